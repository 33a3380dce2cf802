package console

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/go-cmp/cmp"
)

// keyCollector is a program that only writes down what keys arrive.
type keyCollector struct{ keys []string }

func (c *keyCollector) Init() tea.Cmd { return nil }

func (c *keyCollector) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if k, ok := msg.(tea.KeyMsg); ok {
		if k.Type == tea.KeyCtrlQ {
			return c, tea.Quit
		}
		name := k.String()
		if k.Type == tea.KeyRunes && !k.Alt {
			name = "runes:" + string(k.Runes)
		}
		if k.Paste {
			name = "paste:" + string(k.Runes)
		}
		c.keys = append(c.keys, name)
	}
	return c, nil
}

func (c *keyCollector) View() string { return "" }

// typed gives the keys that Bubble Tea makes of chunks of bytes.
func typed(t *testing.T, chunks ...string) []string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	go func() {
		defer func() { _ = w.Close() }()
		for _, chunk := range append(chunks, "\x11") {
			_, _ = io.WriteString(w, chunk)
		}
	}()
	c := &keyCollector{}
	if _, err := tea.NewProgram(c, tea.WithInput(&terminalReader{File: r}), tea.WithOutput(io.Discard), tea.WithoutRenderer(), tea.WithoutSignalHandler()).Run(); err != nil {
		t.Fatal(err)
	}
	return join(c.keys)
}

// join puts letters that came one by one together, as those that came at once
// are: how many a read holds is chance.
func join(keys []string) []string {
	var out []string
	run := ""
	for _, k := range keys {
		if text, ok := strings.CutPrefix(k, "runes:"); ok {
			run += text
			continue
		}
		if run != "" {
			out, run = append(out, run), ""
		}
		out = append(out, k)
	}
	if run != "" {
		out = append(out, run)
	}
	return out
}

func TestReaderGivesWholePieces(t *testing.T) {
	tests := []struct {
		name   string
		chunks []string
		want   []string
	}{
		{"an arrow", []string{"\x1b", "[", "A"}, []string{"up"}},
		{"a marker of a paste", []string{"\x1b[20", "0~ a\ny\n", "\x1b[2", "01~"}, []string{"paste: a\ny\n"}},
		{"a rune", []string{"\xe5", "\xa4", "\xa9"}, []string{"天"}},
		{"line ends of a paste", []string{"\x1b[200~a\r", "\nb\rc\nd\x1b[201~"}, []string{"paste:a\nb\nc\nd"}},
		{"escape in a paste", []string{"\x1b[200~a\x1b[Ab\x1b[201~"}, []string{"paste:a[Ab"}},
		{"reply with the background", []string{"x\x1b]11;rgb:0000/0000/", "0000\x1b\\y"}, []string{"xy"}},
		{"reply of a device", []string{"\x1b[?62;", "22c", "\x1b[24;80R", "\x1b[?2026;2$y", "z"}, []string{"z"}},
		{"reply broken off by a key", []string{"\x1b]11;rgb", "\x1b[A"}, []string{"up"}},
		{"invalid bytes", []string{"a\xff\xfeb"}, []string{"ab"}},
		{"console function key", []string{"\x1b[[", "A"}, []string{"f1"}},
		{"alt and a letter", []string{"\x1b", "b"}, []string{"alt+b"}},
		{"enter and ctrl", []string{"\r\x07"}, []string{"enter", "ctrl+g"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, typed(t, tt.chunks...)); diff != "" {
				t.Errorf("keys differ from what was typed (-want +got):\n%s", diff)
			}
			whole := strings.Join(tt.chunks, "")
			var bytewise []string
			for _, b := range []byte(whole) {
				bytewise = append(bytewise, string([]byte{b}))
			}
			if diff := cmp.Diff(tt.want, typed(t, bytewise...)); diff != "" {
				t.Errorf("byte by byte, keys differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReaderTellsEsc(t *testing.T) {
	var f framer
	if out := f.feed(nil, []byte{0x1b}); len(out) != 0 || !f.unfinished() {
		t.Fatalf("a lone escape may be the beginning of a sequence; got %q", out)
	}
	if out := f.flush(nil); string(out) != "\x1b" || f.unfinished() {
		t.Errorf("after the rest did not come it is the key; got %q", out)
	}
	f.feed(nil, []byte("\x1b[20"))
	if out := f.flush(nil); len(out) != 0 || !f.unfinished() {
		t.Errorf("half a sequence is never typed; got %q", out)
	}
}

func TestReaderCapsAPaste(t *testing.T) {
	var f framer
	out := f.feed(nil, []byte(pasteStart+strings.Repeat("a", maxPaste+1000)+pasteEnd+"b"))
	if want := len(pasteStart) + maxPaste + len(pasteEnd) + 1; len(out) != want || !f.cut {
		t.Errorf("%d bytes of a paste that is too long, want %d; cut %t", len(out), want, f.cut)
	}
}

// However a stream is split, the same pieces come out, and no part of a piece
// ever stands alone.
func FuzzFramer(f *testing.F) {
	for _, seed := range []string{"a\x1b[200~x\r\ny\x1b[201~b", "\x1b]11;rgb:0/0/0\x07\x1b[A", "\x1bOA\x1b[1;5D天\xff", "\x1b\x1b[A\x1bb\x1b[<0;1;1M"} {
		f.Add([]byte(seed), uint16(3), uint16(7))
	}
	f.Fuzz(func(t *testing.T, in []byte, a, b uint16) {
		var whole framer
		want := whole.feed(nil, in)
		var split framer
		cuts := []int{int(a) % (len(in) + 1), int(b) % (len(in) + 1)}
		if cuts[0] > cuts[1] {
			cuts[0], cuts[1] = cuts[1], cuts[0]
		}
		var got []byte
		for _, part := range [][]byte{in[:cuts[0]], in[cuts[0]:cuts[1]], in[cuts[1]:]} {
			got = split.feed(got, part)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("split at %v: %q, whole: %q", cuts, got, want)
		}
		if !utf8.Valid(got) {
			t.Errorf("the pieces are not valid UTF-8: %q", got)
		}
		if len(split.pending) > maxSequence+4 && !split.paste {
			t.Errorf("%d bytes stay behind", len(split.pending))
		}
	})
}

func TestWriterPlacesTheCaret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := &terminalWriter{File: file}
	for _, s := range []string{"\x1b[?1049h", "\x1b[H", "\x1b[Hline\r\nlast" + caret(3, 5) + "\x1b[K", "\x1b[Hother", "\x1b[Hcard" + caret(0, 0)} {
		if n, err := io.WriteString(w, s); err != nil || n != len(s) {
			t.Fatalf("writing %q: %d, %v", s, n, err)
		}
	}
	w.attend(false)
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := "\x1b[?1049h" + "\x1b[H" +
		syncBegin + hideCursor + "\x1b[Hline\r\nlast\x1b[K" + "\x1b[3;5H" + showCursor + syncEnd +
		syncBegin + hideCursor + "\x1b[Hother" + "\x1b[3;5H" + showCursor + syncEnd +
		syncBegin + hideCursor + "\x1b[Hcard" + syncEnd + "\a"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("the terminal gets something else (-want +got):\n%s", diff)
	}
}
