package skills

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// The form's own limits, in characters.
const (
	maxName        = 64
	maxDescription = 1024
)

// frontMatter is what a SKILL.md says about itself.
type frontMatter struct {
	name, description string
}

// fence is the line before and after front matter.
const fence = "---"

// readFrontMatter reads the start of a SKILL.md. Beside an error it gives what
// could be read all the same. Other fields than name and description are left
// alone; of YAML, only plain text values count, and nothing is expanded.
func readFrontMatter(file []byte) (frontMatter, error) {
	text, err := matter(file)
	if err != nil {
		return frontMatter{}, err
	}
	fields, err := topLevel(text)
	if err != nil {
		return frontMatter{}, err
	}
	name, nameErr := textField(fields, "name")
	description, descriptionErr := textField(fields, "description")
	m := frontMatter{name: name, description: description}
	if nameErr == nil {
		nameErr = checkName(name)
	}
	if n := utf8.RuneCountInString(description); n > maxDescription {
		descriptionErr = fmt.Errorf("its description has %d characters, and %d are the most", n, maxDescription)
		m.description = string([]rune(description)[:maxDescription])
	}
	if nameErr != nil {
		m.name = ""
		return m, nameErr
	}
	return m, descriptionErr
}

// matter gives the text between the fences, with the first of them, so that
// YAML counts lines as the file does.
func matter(file []byte) ([]byte, error) {
	file = bytes.TrimPrefix(file, []byte("\ufeff"))
	for at, n := 0, 0; at < len(file); n++ {
		line, _, _ := bytes.Cut(file[at:], []byte("\n"))
		isFence := string(bytes.TrimRight(line, " \t\r")) == fence
		switch {
		case n == 0 && !isFence:
			return nil, fmt.Errorf("it has no front matter: its first line must be %s", fence)
		case n > 0 && isFence:
			if !utf8.Valid(file[:at]) {
				return nil, errors.New("its front matter is not valid UTF-8")
			}
			return file[:at], nil
		}
		at += len(line) + 1
	}
	if len(file) == 0 {
		return nil, errors.New("it is empty")
	}
	return nil, fmt.Errorf("its front matter has no end: a line %s must close it in the first %d bytes", fence, maxFrontMatter)
}

// topLevel reads the fields of the front matter as YAML has them.
func topLevel(text []byte) (map[string]*yaml.Node, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("its front matter is not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(document.Content) == 0 || document.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("its front matter has no fields: it needs name and description")
	}
	pairs := document.Content[0].Content
	fields := make(map[string]*yaml.Node, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		key := pairs[i].Value
		if pairs[i].Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("line %d of its front matter has a field without a plain name", pairs[i].Line)
		}
		if _, twice := fields[key]; twice {
			return nil, fmt.Errorf("its front matter has the field %q twice", clip(key))
		}
		fields[key] = pairs[i+1]
	}
	return fields, nil
}

// textField gives a field that must be text and not empty.
func textField(fields map[string]*yaml.Node, name string) (string, error) {
	node, ok := fields[name]
	if !ok {
		return "", fmt.Errorf("its front matter has no %s", name)
	}
	if node.Kind != yaml.ScalarNode || node.ShortTag() != "!!str" && node.Value != "" {
		return "", fmt.Errorf("its %s (line %d) must be text; put it in quotes", name, node.Line)
	}
	text := strings.TrimSpace(node.Value)
	if text == "" {
		return "", fmt.Errorf("its %s is empty", name)
	}
	if !utf8.ValidString(text) { // an escape can make what the file itself does not have
		return "", fmt.Errorf("its %s is not valid UTF-8", name)
	}
	return text, nil
}

// checkName applies the form's rules to a name.
func checkName(name string) error {
	odd := strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	if odd || len(name) > maxName || strings.HasPrefix(name, "-") || strings.HasSuffix(name, "-") || strings.Contains(name, "--") {
		return fmt.Errorf("its name %q must have at most %d small letters, digits and single hyphens between them", clip(name), maxName)
	}
	return nil
}
