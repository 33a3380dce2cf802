package skills

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"unicode/utf8"
)

// Limits of reading.
const (
	// maxRead is how many characters one call reads at most, and reads if no
	// limit is given. It is more than nearly every SKILL.md has.
	maxRead = 32_000
	// maxFileSize is the largest file that is read. Instructions are a few
	// kilobytes; what is larger is data.
	maxFileSize = 1 << 20
)

type readArguments struct {
	Skill  string  `json:"skill"`
	File   *string `json:"file"`
	Offset number  `json:"offset"`
	Limit  *number `json:"limit"`
}

// part is what was read, beside the text.
type part struct {
	Skill      string `json:"skill"`
	File       string `json:"file"`
	Size       int64  `json:"size"`
	Offset     int    `json:"offset"`
	Characters int    `json:"characters"`
	Total      int    `json:"total"`
	NextOffset int    `json:"next_offset,omitempty"`
}

// read runs [ReadTool].
func read(ctx context.Context, f *folder, arguments json.RawMessage) (answer, error) {
	var a readArguments
	if err := decode(arguments, &a); err != nil {
		return answer{}, err
	}
	file, limit := skillFile, maxRead
	if a.File != nil {
		file = *a.File
	}
	if a.Limit != nil {
		limit = int(*a.Limit)
	}
	if a.Offset < 0 || limit < 1 || limit > maxRead {
		return answer{}, refuse(codeArguments, retryChange, "The offset must be 0 or more, and the limit from 1 to %d.", maxRead)
	}
	root, err := f.skill(a.Skill)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = root.Close() }() // nothing was written
	text, size, err := readText(root, file)
	if err != nil {
		return answer{}, withCandidates(ctx, root, a.Skill, file, err)
	}
	p, out, err := cut(text, int(a.Offset), limit)
	if err != nil {
		return answer{}, err
	}
	p.Skill, p.File, p.Size = a.Skill, file, size
	return answer{text: p.blocks(out), structured: p}, nil
}

// readText reads a whole file, which must be text.
func readText(root *os.Root, file string) (string, int64, error) {
	raw, size, err := readStart(root, file, maxFileSize+1)
	switch {
	case err != nil:
		return "", 0, err
	case size > maxFileSize:
		return "", 0, refuse(codeTooLarge, retryNever, "%s is too large to read: it has %d bytes, and %d are the most.", clip(file), size, maxFileSize)
	case !utf8.Valid(raw), bytes.IndexByte(raw, 0) >= 0:
		return "", 0, refuse(codeNotText, retryNever, "%s is not text, so it is not read: it has %d bytes.", clip(file), size)
	}
	return string(raw), size, nil
}

// withCandidates adds the skill's files to the refusal of an unknown one.
func withCandidates(ctx context.Context, root *os.Root, skill, file string, err error) error {
	var no *refusal
	if !errors.As(err, &no) || no.Code != codeUnknownFile {
		return err
	}
	c, walkErr := walk(ctx, root, maxFilesOfOne)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if walkErr != nil {
		return no // what there is cannot be said; that the file is not there still can
	}
	var names []string
	for _, f := range c.files {
		names = append(names, f.File)
	}
	if len(names) > 0 {
		no.Message += " The files are: " + enumerate(names) + "."
	}
	return no.offer(file, names, func(name string) candidate { return candidate{Skill: skill, File: name} })
}

// cut takes the part of a text that was asked for, counted in characters, so
// that no character is ever split.
func cut(text string, offset, limit int) (part, string, error) {
	runes := []rune(text)
	total := len(runes)
	if offset > 0 && offset >= total {
		return part{}, "", refuse(codePastTheEnd, retryChange, "The offset %d is past the end: the file has %d characters.", offset, total)
	}
	end := min(total, offset+limit)
	p := part{Offset: offset, Characters: end - offset, Total: total}
	if end < total {
		p.NextOffset = end
	}
	return p, string(runes[offset:end]), nil
}

// blocks are the text as it stands in the file, and a word about the rest.
func (p part) blocks(text string) []string {
	if p.Total == 0 {
		return []string{"[The file is empty.]"}
	}
	if p.NextOffset == 0 {
		return []string{text}
	}
	return []string{text, fmt.Sprintf("[Characters %d to %d of %d. Go on with offset %d.]", p.Offset, p.NextOffset, p.Total, p.NextOffset)}
}
