package skills

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// Limits of a list. A list of one skill is where the rest can be seen.
const (
	maxSkills      = 200
	maxFilesOfAll  = 20
	maxFilesOfOne  = 500
	maxFrontMatter = 64 << 10 // of a SKILL.md, this much is read to find its front matter
)

type listArguments struct {
	Skill *string `json:"skill"`
}

// skillInfo is one skill in a list.
type skillInfo struct {
	Skill       string     `json:"skill"`
	Name        string     `json:"name,omitempty"`
	Description string     `json:"description,omitempty"`
	Problem     string     `json:"problem,omitempty"`
	Files       []fileInfo `json:"files"`
	LeftOut     []leftOut  `json:"left_out,omitempty"`
	MoreFiles   bool       `json:"more_files,omitempty"`
}

type listing struct {
	Skills     []skillInfo `json:"skills"`
	MoreSkills int         `json:"more_skills,omitempty"`
}

// list runs [ListTool].
func list(ctx context.Context, f *folder, arguments json.RawMessage) (answer, error) {
	var a listArguments
	if err := decode(arguments, &a); err != nil {
		return answer{}, err
	}
	out := listing{Skills: []skillInfo{}}
	if a.Skill != nil {
		one, err := f.describe(ctx, *a.Skill, maxFilesOfOne)
		if err != nil {
			return answer{}, err
		}
		out.Skills = append(out.Skills, one)
		return answer{text: []string{out.text()}, structured: out}, nil
	}
	for _, e := range f.entries {
		link := e.Type()&fs.ModeSymlink != 0
		if !e.IsDir() && !link {
			continue // a file beside the skills is not one
		}
		if len(out.Skills) == maxSkills {
			out.MoreSkills++
			continue
		}
		one, err := f.entry(ctx, e)
		if err != nil {
			return answer{}, err
		}
		out.Skills = append(out.Skills, one)
	}
	return answer{text: []string{out.text()}, structured: out}, nil
}

// entry describes one skill among all. What is wrong with it is its problem,
// and no reason to hide the others.
func (f *folder) entry(ctx context.Context, e fs.DirEntry) (skillInfo, error) {
	name := e.Name()
	switch {
	case !plain(name):
		return skillInfo{Skill: strconv.Quote(name), Problem: "the name of its folder is not plain text", Files: []fileInfo{}}, nil
	case !e.IsDir():
		return skillInfo{Skill: name, Problem: "it is " + what(e.Type()), Files: []fileInfo{}}, nil
	}
	one, err := f.describe(ctx, name, maxFilesOfAll)
	var no *refusal
	if errors.As(err, &no) {
		return skillInfo{Skill: name, Problem: no.Message, Files: []fileInfo{}}, nil
	}
	return one, err
}

// describe reads a skill's front matter and names its files.
func (f *folder) describe(ctx context.Context, name string, limit int) (skillInfo, error) {
	root, err := f.skill(name)
	if err != nil {
		return skillInfo{}, err
	}
	defer func() { _ = root.Close() }() // nothing was written
	c, err := walk(ctx, root, limit)
	switch {
	case ctx.Err() != nil:
		return skillInfo{}, ctx.Err()
	case err != nil:
		return skillInfo{}, refuse(codeUnreadable, retrySame, "The skill %s cannot be read: %v.", name, bare(err))
	}
	info := skillInfo{Skill: name, Files: c.files, LeftOut: c.leftOut, MoreFiles: c.more}
	if info.Files == nil {
		info.Files = []fileInfo{}
	}
	text, _, err := readStart(root, skillFile, maxFrontMatter)
	if err == nil {
		var m frontMatter
		m, err = readFrontMatter(text)
		info.Name, info.Description = m.name, m.description
		if err == nil && m.name != name {
			err = fmt.Errorf("its name is %s and its folder's is %s: they must be equal", m.name, name)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", skillFile, err)
		}
	}
	if err != nil {
		info.Problem = err.Error()
	}
	return info, nil
}

// text is the listing for the model.
func (l listing) text() string {
	if len(l.Skills) == 0 {
		return "There are no skills."
	}
	var out []string
	for _, s := range l.Skills {
		out = append(out, s.text())
	}
	if l.MoreSkills > 0 {
		out = append(out, fmt.Sprintf("%d more skills are not listed.", l.MoreSkills))
	}
	return strings.Join(out, "\n")
}

func (s skillInfo) text() string {
	var out strings.Builder
	out.WriteString("- " + s.Skill)
	if s.Description != "" {
		out.WriteString(": " + strings.Join(strings.Fields(s.Description), " "))
	}
	if s.Problem != "" {
		out.WriteString("\n  problem: " + s.Problem)
	}
	if len(s.Files) > 0 {
		var names []string
		for _, f := range s.Files {
			names = append(names, fmt.Sprintf("%s (%d bytes)", f.File, f.Size))
		}
		out.WriteString("\n  files: " + strings.Join(names, ", "))
	}
	for _, l := range s.LeftOut {
		out.WriteString("\n  left out: " + l.File + ": " + l.Why)
	}
	if s.MoreFiles {
		out.WriteString("\n  There are more files; list this skill alone to see more.")
	}
	return out.String()
}
