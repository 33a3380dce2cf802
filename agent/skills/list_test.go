package skills

import (
	"bytes"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestAListNamesSkillsWithDescriptionsAndFiles(t *testing.T) {
	t.Parallel()
	const access = "---\nname: access\ndescription: >\n  How to get\n  in.\n---\n"
	dir := write(t, map[string]string{
		"boiler-faults/SKILL.md":            boiler,
		"boiler-faults/references/codes.md": "F28",
		"boiler-faults/assets/logo.png":     "\x89PNG\x00",
		"boiler-faults/.git/config":         "x",
		"boiler-faults/.env":                "SECRET=1",
		"access/SKILL.md":                   access,
		".hidden/SKILL.md":                  boiler,
		"README.md":                         "not a skill",
	})
	want := listing{Skills: []skillInfo{
		{Skill: "access", Name: "access", Description: "How to get in.", Files: []fileInfo{{"SKILL.md", int64(len(access))}}},
		{Skill: "boiler-faults", Name: "boiler-faults", Description: "Reads fault codes of boilers.",
			Files: []fileInfo{{"SKILL.md", int64(len(boiler))}, {"assets/logo.png", 5}, {"references/codes.md", 3}}},
	}}
	if got := listed(t, dir, `{}`); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	text := call(t, dir, ListTool, ``)
	for _, says := range []string{"- access: How to get in.", "assets/logo.png (5 bytes)"} {
		if !strings.Contains(text.Text(), says) {
			t.Errorf("%q is not in %q", says, text.Text())
		}
	}
	if strings.Contains(text.Text(), "hidden") || strings.Contains(text.Text(), ".env") {
		t.Errorf("hidden files are listed: %q", text.Text())
	}
}

func TestAListOfOneSkill(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"boiler-faults/SKILL.md": boiler, "access/SKILL.md": "x"})
	got := listed(t, dir, `{"skill":"boiler-faults"}`)
	if len(got.Skills) != 1 || got.Skills[0].Skill != "boiler-faults" || got.Skills[0].Problem != "" {
		t.Errorf("got %+v", got)
	}
	no := refused(t, call(t, dir, ListTool, `{"skill":"Boiler-Faults"}`))
	if no.Code != codeUnknownSkill || len(no.Candidates) != 2 || no.Candidates[0].Skill != "boiler-faults" {
		t.Errorf("refusal = %+v", no)
	}
}

func TestAnEmptyFolderHasNoSkills(t *testing.T) {
	t.Parallel()
	dir := write(t, nil)
	result := call(t, dir, ListTool, `{}`)
	if result.IsError || result.Text() != "There are no skills." || string(result.Structured) != `{"skills":[]}` {
		t.Errorf("result = %s %s", result.Text(), result.Structured)
	}
	if no := refused(t, call(t, dir, ReadTool, `{"skill":"x"}`)); !strings.Contains(no.Message, "no skills at all") {
		t.Errorf("refusal = %+v", no)
	}
}

func TestWhatIsWrongWithASkillIsListed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, file, text, problem string }{
		{"no SKILL.md", "notes.md", "x", `There is no file "SKILL.md" in the skill.`},
		{"another case", "skill.md", boiler, `There is no file "SKILL.md" in the skill.`},
		{"no front matter", "SKILL.md", "# Boilers", "SKILL.md: it has no front matter"},
		{"another name", "SKILL.md", strings.Replace(boiler, "boiler-faults", "boilers", 1), "its name is boilers and its folder's is boiler-faults"},
		{"binary", "SKILL.md", "\x00\xff", "it has no front matter"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := write(t, map[string]string{"boiler-faults/" + test.file: test.text, "other/SKILL.md": "---\nname: other\ndescription: y\n---"})
			got := listed(t, dir, `{}`)
			if len(got.Skills) != 2 || !strings.Contains(got.Skills[0].Problem, test.problem) || len(got.Skills[0].Files) != 1 {
				t.Fatalf("got %+v", got)
			}
			if got.Skills[1].Problem != "" {
				t.Errorf("the other skill suffers: %+v", got.Skills[1])
			}
			if text := call(t, dir, ListTool, `{}`); !strings.Contains(text.Text(), "problem: ") {
				t.Errorf("the text hides it: %q", text.Text())
			}
		})
	}
}

func TestListsHaveLimits(t *testing.T) {
	t.Parallel()
	files := map[string]string{"many/SKILL.md": "---\nname: many\ndescription: x\n---\n"}
	for i := range maxFilesOfOne + 5 {
		files[fmt.Sprintf("many/f%04d", i)] = ""
	}
	deep := "many/" + strings.Repeat("d/", maxDepth)
	files[deep+"in.md"], files[deep+"d/out.md"] = "", ""
	dir := write(t, files)
	all := listed(t, dir, `{}`).Skills[0]
	if len(all.Files)+len(all.LeftOut) != maxFilesOfAll || !all.MoreFiles {
		t.Errorf("%d files, more %v", len(all.Files), all.MoreFiles)
	}
	one := listed(t, dir, `{"skill":"many"}`).Skills[0]
	if len(one.Files)+len(one.LeftOut) != maxFilesOfOne || !one.MoreFiles {
		t.Errorf("%d files, more %v", len(one.Files), one.MoreFiles)
	}
	if len(one.LeftOut) != 1 || !strings.HasSuffix(one.LeftOut[0].File, "d/d") {
		t.Errorf("left out: %+v", one.LeftOut)
	}
	if no := refused(t, call(t, dir, ReadTool, `{"skill":"many","file":"nothing"}`)); len(no.Candidates) != maxCandidates || len(no.Message) > 1000 {
		t.Errorf("%d candidates, message %q", len(no.Candidates), no.Message)
	}
}

func TestManySkillsAreCounted(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range maxSkills + 3 {
		files[fmt.Sprintf("s%04d/SKILL.md", i)] = "x"
	}
	dir := write(t, files)
	if got := listed(t, dir, `{}`); len(got.Skills) != maxSkills || got.MoreSkills != 3 {
		t.Errorf("%d skills, %d more", len(got.Skills), got.MoreSkills)
	}
	if text := call(t, dir, ListTool, `{}`); !strings.Contains(text.Text(), "3 more skills are not listed") {
		t.Error("the text hides the rest")
	}
}

func TestExactlyAsManyFilesAsAreListedLeaveNoMore(t *testing.T) {
	t.Parallel()
	files := map[string]string{"many/.hidden": "", "many/z/.hidden": ""}
	for i := range maxFilesOfAll {
		files[fmt.Sprintf("many/f%04d", i)] = ""
	}
	if one := listed(t, write(t, files), `{}`).Skills[0]; len(one.Files) != maxFilesOfAll || one.MoreFiles {
		t.Errorf("%d files, more %v", len(one.Files), one.MoreFiles)
	}
}

func TestTheSameFolderGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	files := map[string]string{"boiler-faults/SKILL.md": boiler, "b/SKILL.md": "x", "a/x/y.md": "y", "a/x.md": "x"}
	first, second := call(t, write(t, files), ListTool, `{}`), call(t, write(t, files), ListTool, `{}`)
	if !bytes.Equal(first.Structured, second.Structured) || first.Text() != second.Text() {
		t.Errorf("%s\n%s", first.Structured, second.Structured)
	}
}

func TestNamesThatAreNotPlainTextAreShownQuotedAndNotRead(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"boiler-faults/SKILL.md": boiler})
	for _, name := range []string{"boiler-faults/a\nb", "bad\x1bname/SKILL.md"} {
		put(t, filepath.Join(dir, name), "x")
	}
	got := listed(t, dir, `{}`)
	if len(got.Skills) != 2 || got.Skills[0].Skill != `"bad\x1bname"` || got.Skills[0].Problem == "" {
		t.Errorf("got %+v", got)
	}
	if one := got.Skills[1]; len(one.LeftOut) != 1 || one.LeftOut[0].File != `"a\nb"` {
		t.Errorf("left out: %+v", one.LeftOut)
	}
	if no := refused(t, call(t, dir, ReadTool, `{"skill":"boiler-faults","file":"a\nb"}`)); no.Code != codeUnknownFile {
		t.Errorf("refusal = %+v", no)
	}
	if no := refused(t, call(t, dir, ReadTool, `{"skill":"bad\u001bname"}`)); no.Code != codeUnknownSkill {
		t.Errorf("refusal = %+v", no)
	}
}
