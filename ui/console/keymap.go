package console

import (
	"fmt"

	"github.com/charmbracelet/bubbles/key"
)

// keyMap are the keys that do the same wherever the keyboard is, with the words
// that /help has for them. The keys of a card stand on the card.
type keyMap struct {
	send, newline, earlier, leave     key.Binding
	pageUp, pageDown, top, end, cards key.Binding
}

func newKeyMap() keyMap {
	bind := func(shown, does string, keys ...string) key.Binding {
		return key.NewBinding(key.WithKeys(keys...), key.WithHelp(shown, does))
	}
	return keyMap{
		send:     bind("Enter", "send", "enter"),
		newline:  bind("Alt+Enter, Ctrl+J", "new line", "alt+enter", "ctrl+j"),
		earlier:  bind("Ctrl+P, Ctrl+N", "earlier lines", "ctrl+p", "ctrl+n"),
		leave:    bind("Ctrl+C", "clear, then leave", "ctrl+c"),
		cards:    bind("Tab (empty line), Ctrl+G", "go to the card, then to the next", "tab", "ctrl+g"),
		pageUp:   bind("PgUp", "a page up", "pgup"),
		pageDown: bind("PgDn", "a page down", "pgdown"),
		top:      bind("Ctrl+Home", "the beginning", "ctrl+home"),
		end:      bind("Ctrl+End", "the end", "ctrl+end"),
	}
}

// helpRow is a line of /help with two keys.
func helpRow(a, b key.Binding) string {
	return fmt.Sprintf("  %-17s%-18s%-19s%s\n", a.Help().Key, a.Help().Desc, b.Help().Key, b.Help().Desc)
}

// helpLine is a line of /help with one key.
func helpLine(b key.Binding) string { return fmt.Sprintf("  %-27s%s\n", b.Help().Key, b.Help().Desc) }
