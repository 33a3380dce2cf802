package offline

import (
	"slices"
	"strings"
)

// directory is who works here, as far as the desk said.
type directory []person

// mention is a place in a clause that names somebody: "sam", "priya's", "sam t".
type mention struct {
	// at is the first word, end the one behind the last.
	at, end int
	// who are the people that the words can mean.
	who []person
	// typed are the words, folded.
	typed string
	// owns is set for "priya's day", also without the apostrophe.
	owns bool
	// guessed is set if the words are nobody's name to the letter.
	guessed bool
}

// name is what tools take: the id of the only person meant, else the words, so
// that the desk says whom they can mean. What is guessed is no basis for a write.
func (m mention) name(writing bool) string {
	if len(m.who) == 1 && !(writing && m.guessed) {
		return m.who[0].ID
	}
	return m.typed
}

// peopleIntents are those in which a word that nobody read may be a person.
var peopleIntents = []string{"book", "send", "move", "change", "cancel", "agenda", "availability", "people", "status"}

// mayNameSomebody reports whether a clause holds words that could be a name.
func (c *clause) mayNameSomebody() bool {
	if c.intent != nil && !slices.Contains(peopleIntents, c.intent.name) {
		return false
	}
	return len(c.site)+len(c.rest) > 0
}

// peopleOf gives the directory, if the clauses may name somebody. It is false
// while the directory has been asked for and is not there yet. Without a
// directory, names are left to the tools.
func (t *turn) peopleOf(clauses []*clause) (directory, bool) {
	if !slices.ContainsFunc(clauses, (*clause).mayNameSomebody) {
		return nil, true
	}
	if t.memory.people != nil {
		return t.memory.people, true
	}
	if _, offered := t.tools.alias(toolTechnicians); !offered {
		return nil, true
	}
	_, done := t.call(toolTechnicians, args{"limit": directoryLimit})
	return t.memory.people, done
}

// directoryLimit is how many people are read at once. Where there are more, names
// are left to the tools.
const directoryLimit = 50

// observePeople keeps a list of technicians that nothing narrowed.
func (m *memory) observePeople(o outcome) {
	if len(o.args) != 1 || o.args["limit"] == nil {
		return
	}
	var list struct {
		Items []person `json:"items"`
		Total int      `json:"total"`
	}
	o.read(&list)
	if list.Total <= len(list.Items) {
		m.people = slices.DeleteFunc(list.Items, func(p person) bool { return p.ID == "" || p.Name == "" })
	}
}

// mentions finds the people that words name, and marks the words.
func (d directory) mentions(words []word) []mention {
	var out []mention
	for i := 0; i < len(words); i++ {
		if m, ok := d.at(words, i); ok {
			for k := m.at; k < m.end; k++ {
				words[k].as = asPerson
			}
			out, i = append(out, m), m.end-1
		}
	}
	return out
}

// at reads a name that begins at word i.
func (d directory) at(words []word, i int) (mention, bool) {
	m := mention{at: i, end: i + 1, typed: words[i].base()}
	if words[i].as != asNothing || !d.begins(words[i]) {
		return m, false
	}
	m.who, m.owns, m.guessed = d.called(words[i])
	for k := i + 1; k < len(words) && !words[k-1].ends && !m.owns && words[k].as == asNothing; k++ {
		var narrower []person
		owns, guessed := false, false
		for _, p := range m.who {
			if fits, possessive, guess := continues(p, words[k]); fits {
				narrower, owns, guessed = append(narrower, p), possessive, guess
			}
		}
		if len(narrower) == 0 {
			break
		}
		m.who, m.owns, m.guessed, m.end = narrower, owns, m.guessed || guessed, k+1
		m.typed += " " + words[k].base()
	}
	return m, len(m.who) > 0
}

// begins reports whether a word may be the first of a name: no word of everyday
// language, unless it is somebody's name to the letter and written as one.
func (d directory) begins(w word) bool {
	if w.raw != "" && w.raw[0] >= 'A' && w.raw[0] <= 'Z' {
		return true
	}
	return !everyday(w.text)
}

// everyday reports whether a word means something here that is no name.
func everyday(text string) bool {
	_, day := weekdays[text]
	_, number := numberWords[text]
	return day || number || slices.Contains(stopWords, text) || slices.Contains(questionWords, text) || slices.Contains(moveWords, text)
}

// called are the people that a word alone can mean: exactly, else by the
// beginning of a first name, else with a slip of the finger.
func (d directory) called(w word) (who []person, owns, guessed bool) {
	for step, means := range []func(names []string, said string) bool{
		slices.Contains[[]string],
		func(names []string, said string) bool { return len(said) > 2 && strings.HasPrefix(names[0], said) },
		func(names []string, said string) bool {
			return len(said) > 3 && slices.ContainsFunc(names, func(n string) bool { return len(n) > 3 && nearly(n, said) })
		},
	} {
		for _, form := range forms(w) {
			for _, p := range d {
				if names := ownNames(p); len(names) > 0 && means(names, form.text) {
					who, owns = append(who, p), form.owns
				}
			}
			if len(who) > 0 {
				return who, owns, step == 2
			}
		}
	}
	return nil, false, false
}

// continues reports whether a word goes on with somebody's name: another of its
// words, its first letter, or one with a slip of the finger.
func continues(p person, w word) (fits, owns, guessed bool) {
	for _, form := range forms(w) {
		for _, name := range textWords(p.Name)[1:] {
			initial := len(form.text) == 1 && strings.HasPrefix(name, form.text) && form.text != "a" && form.text != "i"
			switch {
			case name == form.text, initial:
				return true, form.owns, false
			case len(form.text) > 3 && nearly(name, form.text) && !everyday(form.text):
				return true, form.owns, true
			}
		}
	}
	return false, false, false
}

// ownNames are the words of a name that stand for somebody alone: the first one,
// and the longer ones of the rest ("van der" stands for nobody).
func ownNames(p person) []string {
	var out []string
	for i, w := range textWords(p.Name) {
		if i == 0 || len(w) > 3 {
			out = append(out, w)
		}
	}
	return out
}

// form is a word as a name could be meant by it.
type form struct {
	text string
	owns bool
}

// forms are the word itself and the word without a possessive s.
func forms(w word) []form {
	if base := w.base(); base != w.text {
		return []form{{base, true}}
	}
	if len(w.text) > 3 && strings.HasSuffix(w.text, "s") {
		return []form{{w.text, false}, {strings.TrimSuffix(w.text, "s"), true}}
	}
	return []form{{w.text, false}}
}

// somebody gives the only person that the clause names, or nil.
func (c *clause) somebody() *mention {
	if len(c.people) != 1 {
		return nil
	}
	return &c.people[0]
}
