package agent

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// contentBlock is what is read of a content block of the protocol.
type contentBlock struct {
	Type     string         `json:"type"`
	Text     string         `json:"text"`
	MIMEType string         `json:"mimeType"`
	Data     string         `json:"data"`
	URI      string         `json:"uri"`
	Name     string         `json:"name"`
	Resource *embeddedBlock `json:"resource"`
}

// embeddedBlock is a resource inside a content block.
type embeddedBlock struct {
	URI      string  `json:"uri"`
	MIMEType string  `json:"mimeType"`
	Text     *string `json:"text"`
	Blob     string  `json:"blob"`
}

// Text is the result for people and for models that read text only: text as it
// is, everything else as a line that says what it is and how large.
func (r *Result) Text() string {
	if r == nil {
		return ""
	}
	lines := make([]string, len(r.Content))
	for i, raw := range r.Content {
		lines[i] = blockText(raw)
	}
	return strings.Join(lines, "\n")
}

func blockText(raw json.RawMessage) string {
	var b contentBlock
	if json.Unmarshal(raw, &b) != nil {
		return "[unreadable content]"
	}
	switch {
	case b.Type == "text":
		return b.Text
	case b.Type == "resource" && b.Resource != nil && b.Resource.Text != nil:
		return label(b.Type, b.Resource.URI, b.Resource.MIMEType, "") + "\n" + *b.Resource.Text
	case b.Type == "resource" && b.Resource != nil:
		return label(b.Type, b.Resource.URI, b.Resource.MIMEType, dataSize(b.Resource.Blob))
	case b.Type == "resource_link":
		return label("link", b.Name, b.URI, b.MIMEType)
	}
	return label(b.Type, b.URI, b.MIMEType, dataSize(b.Data))
}

// label is one line for what is no text.
func label(kind string, about ...string) string {
	var said []string
	for _, word := range about {
		if word != "" {
			said = append(said, word)
		}
	}
	if len(said) == 0 {
		return "[" + kind + "]"
	}
	return "[" + kind + " " + strings.Join(said, ", ") + "]"
}

// dataSize says how many bytes base64 text stands for; empty if it is none.
func dataSize(encoded string) string {
	n := base64.RawStdEncoding.DecodedLen(len(strings.TrimRight(encoded, "=")))
	switch {
	case n == 0:
		return ""
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// defaultResult is how many bytes of a result the model gets where nobody says
// otherwise; it is what a request holds of the past as well.
const defaultResult = historyBytes

// resultLimit fills in the default.
func resultLimit(configured func(server string) int) func(server string) int {
	return func(server string) int {
		if configured != nil {
			if n := configured(server); n > 0 {
				return n
			}
		}
		return defaultResult
	}
}

// size is how many bytes of a request the result takes.
func (r *Result) size() int {
	n := len(r.Structured)
	for _, block := range r.Content {
		n += len(block)
	}
	return n
}

// Cut is the result as the model gets it: whole if it takes at most so many
// bytes, else with beginning and end of its texts and a note that says so. What
// is stored stays whole; the same result is always cut in the same way.
func (r *Result) Cut(most int) *Result {
	whole := r.size()
	if most <= 0 || whole <= most {
		return r
	}
	cut := &Result{Meta: r.Meta, IsError: r.IsError}
	texts := r.Text()
	if len(r.Structured) > 0 && len(r.Structured) <= most {
		cut.Structured = r.Structured
		most -= len(r.Structured)
	} else if strings.TrimSpace(texts) == "" {
		texts = string(r.Structured)
	}
	if text := headAndTail(texts, most); text != "" {
		cut.Content = append(cut.Content, TextResult(text, false).Content...)
	}
	note := fmt.Sprintf("[The desk shortened this result, which has %d bytes, for you. People can see all of it. Ask for less at once if you need the rest.]", whole)
	cut.Content = append(cut.Content, TextResult(note, false).Content...)
	return cut
}

// headAndTail gives at most so many bytes of a text, three quarters of them from
// its beginning, in whole characters.
func headAndTail(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end, begin := max(most*3/4, 0), len(text)-max(most/4, 0)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	for begin < len(text) && !utf8.RuneStart(text[begin]) {
		begin++
	}
	return fmt.Sprintf("%s\n[… %d bytes are left out here …]\n%s", text[:end], begin-end, text[begin:])
}
