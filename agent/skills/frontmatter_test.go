package skills

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFrontMatter(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, description string }{
		{"plain", "---\nname: a-1\ndescription: Reads codes.\n---\nbody", "Reads codes."},
		{"double quotes", "---\nname: \"a-1\"\ndescription: \"Use when: it \\\"beeps\\\".\"\n---\n", `Use when: it "beeps".`},
		{"single quotes", "---\nname: 'a-1'\ndescription: 'It''s a #1 guide: yes'\n---\n", "It's a #1 guide: yes"},
		{"folded", "---\nname: a-1\ndescription: >-\n  One\n  line.\n---\n", "One line."},
		{"literal", "---\nname: a-1\ndescription: |\n  One\n  Two\n---\n", "One\nTwo"},
		{"plain over lines", "---\nname: a-1\ndescription: One\n  line.\n---\n", "One line."},
		{"other fields", "---\nname: a-1\nlicense: MIT\nmetadata:\n  author: me\n  tags: [a, b]\nallowed-tools: Read\ndescription: d\n---\n", "d"},
		{"comment", "---\n# hello\nname: a-1 # the name\ndescription: d\n---\n", "d"},
		{"Windows line ends", "---\r\nname: a-1\r\ndescription: d\r\n---\r\nbody\r\n", "d"},
		{"byte order mark", "\ufeff---\nname: a-1\ndescription: d\n---\n", "d"},
		{"space behind the fences", "--- \nname: a-1\ndescription: d\n---\t\nbody", "d"},
		{"no line end", "---\nname: a-1\ndescription: d\n---", "d"},
		{"rules in the body", "---\nname: a-1\ndescription: d\n---\none\n---\ntwo: [", "d"},
		{"as long as may be", "---\nname: a-1\ndescription: " + strings.Repeat("é", maxDescription) + "\n---\n", strings.Repeat("é", maxDescription)},
		{"a quoted number", "---\nname: a-1\ndescription: \"7\"\n---\n", "7"},
		{"another script", "---\nname: a-1\ndescription: ボイラー\n---\n\xff", "ボイラー"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := readFrontMatter([]byte(test.text))
			if err != nil || m.name != "a-1" || m.description != test.description {
				t.Errorf("got %+v, %v", m, err)
			}
		})
	}
}

func TestMalformedFrontMatterSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	const fields = "name: a-1\ndescription: d\n"
	for _, test := range []struct{ name, text, says string }{
		{"empty", "", "it is empty"},
		{"only a mark", "\ufeff", "it is empty"},
		{"none", "# Title\n", "no front matter"},
		{"a blank line first", "\n---\n" + fields + "---\n", "no front matter"},
		{"four dashes", "----\n" + fields + "----\n", "no front matter"},
		{"no end", "---\n" + fields, "has no end"},
		{"nothing inside", "---\n---\n", "has no fields"},
		{"a list", "---\n- name: a\n---\n", "has no fields"},
		{"text", "---\nname\n---\n", "has no fields"},
		{"no name", "---\ndescription: d\n---\n", "has no name"},
		{"no description", "---\nname: a-1\n---\n", "has no description"},
		{"another case", "---\nName: a-1\ndescription: d\n---\n", "has no name"},
		{"empty name", "---\nname:\ndescription: d\n---\n", "its name is empty"},
		{"empty description", "---\nname: a-1\ndescription: \"  \"\n---\n", "its description is empty"},
		{"twice", "---\n" + fields + "name: b\n---\n", `the field "name" twice`},
		{"a number", "---\nname: 17\ndescription: d\n---\n", "its name (line 2) must be text"},
		{"a truth", "---\nname: a-1\ndescription: true\n---\n", "its description (line 3) must be text"},
		{"a list as description", "---\nname: a-1\ndescription: [a]\n---\n", "its description (line 3) must be text"},
		{"an alias", "---\nx: &x text\nname: a-1\ndescription: *x\n---\n", "its description (line 4) must be text"},
		{"capitals", "---\nname: Boiler\ndescription: d\n---\n", "small letters"},
		{"a path as name", "---\nname: ../a\ndescription: d\n---\n", "small letters"},
		{"two hyphens", "---\nname: a--b\ndescription: d\n---\n", "small letters"},
		{"a hyphen first", "---\nname: -a\ndescription: d\n---\n", "small letters"},
		{"a hyphen last", "---\nname: a-\ndescription: d\n---\n", "small letters"},
		{"a long name", "---\nname: " + strings.Repeat("a", maxName+1) + "\ndescription: d\n---\n", "at most 64"},
		{"a long description", "---\nname: a-1\ndescription: " + strings.Repeat("é", maxDescription+1) + "\n---\n", "has 1025 characters"},
		{"a colon", "---\nname: a-1\ndescription: Use when: now\n---\n", "is not YAML"},
		{"a tab", "---\n\tname: a-1\n---\n", "is not YAML"},
		{"open quotes", "---\nname: \"a-1\ndescription: d\n---\n", "is not YAML"},
		{"a field of fields", "---\n? [a]\n: b\n---\n", "without a plain name"},
		{"invalid UTF-8", "---\nname: a-1\ndescription: \xff\n---\n", "not valid UTF-8"},
		{"many aliases", "---\na: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\n---\n", "has no name"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := readFrontMatter([]byte(test.text))
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %+v, %v", m, err)
			}
		})
	}
}

func TestWhatCanBeReadOfMalformedFrontMatterIsKept(t *testing.T) {
	t.Parallel()
	m, err := readFrontMatter([]byte("---\nname: Boiler\ndescription: d\n---\n"))
	if err == nil || m.name != "" || m.description != "d" {
		t.Errorf("got %+v, %v", m, err)
	}
	m, err = readFrontMatter([]byte("---\nname: a\ndescription: " + strings.Repeat("é", maxDescription+1) + "\n---\n"))
	if err == nil || m.name != "a" || utf8.RuneCountInString(m.description) != maxDescription {
		t.Errorf("got %+v, %v", m, err)
	}
}

// FuzzFrontMatter feeds anything to the reader: it never panics, and what it
// takes keeps the form's rules.
func FuzzFrontMatter(f *testing.F) {
	for _, seed := range []string{
		"", "---", "---\n---", boiler, "---\nname: a\ndescription: >\n  x\n\n  y\n---\n", "\ufeff---\r\nname: 'a'\r\n---\r\n",
		"---\nx: &x [*x]\nname: a\n---\n", "---\n<<: {name: a}\ndescription: !!binary aGk=\n---\n", "---\n? ? ?\n: :\n---\n", "---\nname: \"\\xff\\u0000\"\n---\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		m, err := readFrontMatter(file)
		again, againErr := readFrontMatter(file)
		if m != again || (err == nil) != (againErr == nil) {
			t.Fatalf("read twice: %+v %v, %+v %v", m, err, again, againErr)
		}
		if !utf8.ValidString(m.name) || !utf8.ValidString(m.description) || utf8.RuneCountInString(m.description) > maxDescription {
			t.Fatalf("got %+v", m)
		}
		if m.name != "" && checkName(m.name) != nil || strings.TrimSpace(m.description) != m.description && err == nil {
			t.Fatalf("got %+v", m)
		}
		if err == nil && (m.name == "" || m.description == "") {
			t.Fatalf("taken without what it needs: %+v", m)
		}
		if err != nil && strings.TrimSpace(err.Error()) == "" {
			t.Fatal("an error that says nothing")
		}
	})
}

// FuzzDescription writes a description as JSON, which YAML reads as well: it
// comes back as it was.
func FuzzDescription(f *testing.F) {
	for _, seed := range []string{"Reads codes.", "a: b", "# no", "'", `"`, "---", "\n---\n", "é漢", "- x", "*a", "{}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, description string) {
		want := strings.TrimSpace(description)
		if want == "" || !utf8.ValidString(want) || utf8.RuneCountInString(want) > maxDescription || !plain(want) {
			t.Skip()
		}
		encoded, err := json.Marshal(description)
		if err != nil {
			t.Fatal(err)
		}
		m, err := readFrontMatter([]byte("---\nname: a\ndescription: " + string(encoded) + "\n---\n"))
		if err != nil || m.description != want {
			t.Errorf("%q came back as %q, %v", want, m.description, err)
		}
	})
}
