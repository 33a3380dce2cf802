package skills

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deskhand/agent"
)

// partOf reads the data beside a text.
func partOf(t testing.TB, result agent.Result) part {
	t.Helper()
	var p part
	if err := json.Unmarshal(result.Structured, &p); err != nil || result.IsError {
		t.Fatalf("read: %s, %v", result.Structured, err)
	}
	return p
}

func TestReadingGivesTheFileAsItStands(t *testing.T) {
	t.Parallel()
	odd := "tab\there, <b>&amp;</b>, é, 漢字, \r\nline\n"
	dir := write(t, map[string]string{
		"boiler-faults/SKILL.md": boiler, "boiler-faults/references/odd.txt": odd, "boiler-faults/empty": "",
	})
	for _, test := range []struct{ arguments, text, file string }{
		{`{"skill":"boiler-faults"}`, boiler, "SKILL.md"},
		{`{"skill":"boiler-faults","file":"SKILL.md"}`, boiler, "SKILL.md"},
		{`{"skill":"boiler-faults","file":"references/odd.txt"}`, odd, "references/odd.txt"},
		{`{"skill":"boiler-faults","file":"empty"}`, "[The file is empty.]", "empty"},
	} {
		result := call(t, dir, ReadTool, test.arguments)
		p := partOf(t, result)
		if result.Text() != test.text || p.File != test.file || p.Skill != "boiler-faults" || p.NextOffset != 0 {
			t.Errorf("%s: %q, %+v", test.arguments, result.Text(), p)
		}
	}
}

func TestAMalformedSkillCanStillBeRead(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"broken/SKILL.md": "no front matter"})
	if result := call(t, dir, ReadTool, `{"skill":"broken"}`); result.IsError || result.Text() != "no front matter" {
		t.Errorf("result = %+v", result)
	}
}

func TestALongFileComesInPartsThatMakeTheWhole(t *testing.T) {
	t.Parallel()
	whole := strings.Repeat("é漢x", maxRead/2) // one and a half parts
	dir := write(t, map[string]string{"long/SKILL.md": whole})
	for _, limit := range []int{0, 7_001, maxRead} {
		var got strings.Builder
		offset, total := 0, 0
		for calls := 0; ; calls++ {
			arguments := fmt.Sprintf(`{"skill":"long","offset":%d}`, offset)
			if limit > 0 {
				arguments = fmt.Sprintf(`{"skill":"long","offset":%d.0,"limit":%d}`, offset, limit)
			}
			result := call(t, dir, ReadTool, arguments)
			p := partOf(t, result)
			got.WriteString((&agent.Result{Content: result.Content[:1]}).Text())
			total += p.Characters
			if p.NextOffset == 0 {
				break
			}
			if len(result.Content) != 2 || !strings.Contains(result.Text(), fmt.Sprintf("offset %d.", p.NextOffset)) || p.NextOffset <= offset || calls > 20 {
				t.Fatalf("a part that does not lead on: %+v", p)
			}
			offset = p.NextOffset
		}
		if got.String() != whole || total != maxRead/2*3 {
			t.Errorf("limit %d: the parts do not make the whole: %d characters", limit, total)
		}
	}
	no := refused(t, call(t, dir, ReadTool, fmt.Sprintf(`{"skill":"long","offset":%d}`, maxRead/2*3)))
	if no.Code != codePastTheEnd {
		t.Errorf("refusal = %+v", no)
	}
}

func TestWhatIsNotTextIsNamedWithItsSize(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"s/SKILL.md": boiler, "s/logo.png": "\x89PNG\r\n", "s/zero": "a\x00b", "s/big": strings.Repeat("x", maxFileSize+1),
		"s/just": strings.Repeat("x", maxFileSize),
	})
	for _, test := range []struct{ file, code, size string }{
		{"logo.png", codeNotText, "6 bytes"},
		{"zero", codeNotText, "3 bytes"},
		{"big", codeTooLarge, "1048577 bytes"},
	} {
		no := refused(t, call(t, dir, ReadTool, `{"skill":"s","file":"`+test.file+`"}`))
		if no.Code != test.code || no.Retry != retryNever || !strings.Contains(no.Message, test.size) || !strings.Contains(no.Message, test.file) {
			t.Errorf("%s: %+v", test.file, no)
		}
	}
	if result := call(t, dir, ReadTool, `{"skill":"s","file":"just"}`); result.IsError {
		t.Errorf("the largest file: %s", result.Text())
	}
}

func TestAnUnknownFileIsAnsweredWithWhatThereIs(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"s/SKILL.md": boiler, "s/a.md": "", "s/references/Codes.md": "", "s/.hidden": "x"})
	for _, test := range []struct{ file, first string }{
		{"skill.md", "SKILL.md"},
		{"codes.md", "references/Codes.md"},
		{"references/codes.md", "references/Codes.md"},
		{"nothing", "SKILL.md"},
		{".hidden", "SKILL.md"},
		{"references", "SKILL.md"},
		{"a.md/x", "SKILL.md"},
	} {
		no := refused(t, call(t, dir, ReadTool, `{"skill":"s","file":"`+test.file+`"}`))
		if no.Code != codeUnknownFile || no.Retry != retryChange || len(no.Candidates) != 3 || no.Candidates[0] != (candidate{"s", test.first}) {
			t.Errorf("%s: %+v", test.file, no)
		}
	}
	long := refused(t, call(t, dir, ReadTool, `{"skill":"s","file":"`+strings.Repeat("x", 100_000)+`"}`))
	if len(long.Message) > 1000 {
		t.Errorf("a message of %d bytes", len(long.Message))
	}
}

func TestAFileThatMayNotBeReadSaysSo(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("nothing is locked for root")
	}
	dir := write(t, map[string]string{"s/SKILL.md": boiler})
	if err := os.Chmod(filepath.Join(dir, "s", skillFile), 0); err != nil {
		t.Fatal(err)
	}
	no := refused(t, call(t, dir, ReadTool, `{"skill":"s"}`))
	if no.Code != codeUnreadable || no.Retry != retrySame || !strings.Contains(no.Message, "permission denied") {
		t.Errorf("refusal = %+v", no)
	}
}
