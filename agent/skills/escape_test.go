package skills

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deskhand/agent"
)

// secret stands in every file that no call may give.
const secret = "the safe's number is 4711"

// TestNothingOutsideASkillIsRead tries the ways in which an argument, or a
// folder that somebody prepared, could lead out of the skill that was named.
func TestNothingOutsideASkillIsRead(t *testing.T) {
	t.Parallel()
	outer := write(t, map[string]string{
		"secret.txt":              secret,
		"skills/secret.txt":       secret,
		"skills/.git/config":      secret,
		"skills/other/secret.txt": secret,
		"skills/s/SKILL.md":       boiler,
		"skills/s/.env":           secret,
		"skills/s/.git/secret":    secret,
		"skills/s/sub/a.md":       "a",
	})
	dir := filepath.Join(outer, "skills")
	skill := filepath.Join(dir, "s")
	link(t, filepath.Join(outer, "secret.txt"), filepath.Join(skill, "absolute"))
	link(t, "../secret.txt", filepath.Join(skill, "relative"))
	link(t, "../other", filepath.Join(skill, "folder"))
	link(t, ".env", filepath.Join(skill, "inside"))
	link(t, ".", filepath.Join(skill, "loop"))
	link(t, outer, filepath.Join(dir, "linked"))
	link(t, "other", filepath.Join(dir, "sibling"))

	for _, arguments := range []struct{ skill, file string }{
		{"s", "../secret.txt"}, {"s", "../../secret.txt"}, {"s", "sub/../../secret.txt"}, {"s", "sub/../.env"},
		{"s", "../other/secret.txt"}, {"s", "./.env"}, {"s", ".env"}, {"s", ".git/secret"}, {"s", "sub//a.md"}, {"s", "sub/"},
		{"s", filepath.Join(outer, "secret.txt")}, {"s", "/etc/passwd"}, {"s", `..\secret.txt`}, {"s", `C:\secret.txt`},
		{"s", "absolute"}, {"s", "relative"}, {"s", "folder/secret.txt"}, {"s", "inside"}, {"s", "loop/.env"}, {"s", "loop/SKILL.md"},
		{"s", ""}, {"s", "."}, {"s", ".."}, {"s", "SKILL.md\x00"}, {"s", "skill.md"}, {"s", "SUB/a.md"}, {"s", "sub/A.MD"},
		{"linked", "secret.txt"}, {"sibling", "secret.txt"}, {"..", "secret.txt"}, {".", "secret.txt"}, {"", "secret.txt"},
		{".git", "config"}, {"s/sub", "a.md"}, {"s/..", "secret.txt"}, {"../skills/s", "SKILL.md"}, {dir, "secret.txt"}, {"S", "SKILL.md"},
		{"secret.txt", "."},
	} {
		encoded, err := json.Marshal(map[string]string{"skill": arguments.skill, "file": arguments.file})
		if err != nil {
			t.Fatal(err)
		}
		result := call(t, dir, ReadTool, string(encoded))
		no := refused(t, result)
		if no.Code != codeUnknownFile && no.Code != codeUnknownSkill {
			t.Errorf("%+v: %+v", arguments, no)
		}
		if strings.Contains(result.Text(), secret) {
			t.Errorf("%+v gives the secret away", arguments)
		}
	}
}

func TestAPathThatLeadsUpIsRefusedAsOne(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"s/SKILL.md": boiler})
	for _, file := range []string{"..", "../x", "a/../SKILL.md", "/SKILL.md", "./SKILL.md", "a//b", "a/", ""} {
		no := refused(t, call(t, dir, ReadTool, `{"skill":"s","file":"`+file+`"}`))
		if no.Code != codeUnknownFile || !strings.Contains(no.Message, "is not a path below the skill's folder") {
			t.Errorf("%q: %+v", file, no)
		}
	}
}

func TestLinksAreListedAsWhatTheyAre(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"s/SKILL.md": boiler})
	link(t, "/etc", filepath.Join(dir, "s", "etc"))
	link(t, "s", filepath.Join(dir, "z"))
	got := listed(t, dir, `{}`)
	if len(got.Skills) != 2 || len(got.Skills[0].Files) != 1 || len(got.Skills[0].LeftOut) != 1 || got.Skills[0].LeftOut[0].File != "etc" {
		t.Fatalf("got %+v", got)
	}
	if z := got.Skills[1]; !strings.Contains(z.Problem, "symbolic link") || len(z.Files) != 0 {
		t.Errorf("a linked skill: %+v", z)
	}
	if no := refused(t, call(t, dir, ReadTool, `{"skill":"z"}`)); no.Code != codeUnknownSkill || !strings.Contains(no.Message, "symbolic link") {
		t.Errorf("refusal = %+v", no)
	}
}

// TestAFolderSwappedForALinkLeadsNowhere: what find saw as a folder is a link
// by the time the file is opened.
func TestAFolderSwappedForALinkLeadsNowhere(t *testing.T) {
	t.Parallel()
	outer := write(t, map[string]string{"secret.txt": secret, "skills/s/SKILL.md": boiler})
	link(t, outer, filepath.Join(outer, "skills", "s", "sub"))
	root, err := os.OpenRoot(filepath.Join(outer, "skills", "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	if file, err := openRegular(root, "sub/secret.txt"); err == nil {
		_ = file.Close()
		t.Error("the link was followed")
	}
	if file, err := openRegular(root, "."); err == nil {
		_ = file.Close()
		t.Error("a folder was opened as a file")
	}
}

func TestTheFolderItselfMayBeALink(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"real/s/SKILL.md": boiler})
	at := filepath.Join(dir, "skills")
	link(t, "real", at)
	list, err := New(at).Tools(t.Context())
	if err != nil || list.Identity != "skills:"+at {
		t.Fatalf("tools = %+v, %v", list, err)
	}
	if result := call(t, at, ReadTool, `{"skill":"s"}`); result.IsError {
		t.Errorf("read: %s", result.Text())
	}
}

// TestAnApprovedSkillThatIsGoneIsNotAnswered: a person decided on that skill, so
// the call is kept for them; a skill that a model made up is answered.
func TestAnApprovedSkillThatIsGoneIsNotAnswered(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"other/SKILL.md": boiler})
	for _, tool := range tools {
		r := agent.CallRequest{Tool: tool.name, Arguments: json.RawMessage(`{"skill":"boiler-faults"}`)}
		result, err := New(dir).Call(t.Context(), r)
		if err != nil || refused(t, result).Code != codeUnknownSkill {
			t.Errorf("%s unasked: %+v, %v", tool.name, result, err)
		}
		r.Approval = "A-1"
		_, err = New(dir).Call(t.Context(), r)
		wantOutcome(t, err, agent.OutcomeNotSent)
		if !strings.Contains(err.Error(), `There is no skill "boiler-faults". The skills are: other.`) {
			t.Errorf("%s approved: %v", tool.name, err)
		}
	}
}
