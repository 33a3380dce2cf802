package skills

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
)

// folder is the folder of skills, open for one call.
type folder struct {
	root *os.Root
	// entries are what lies directly in it, by name, without what is hidden.
	entries []fs.DirEntry
}

// open opens the folder and reads its names. Its errors say why it cannot.
func (s *Source) open() (*folder, error) {
	if s.err != nil {
		return nil, s.err
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, s.unreadable(err)
	}
	entries, err := visible(root, ".")
	if err != nil {
		return nil, s.unreadable(errors.Join(err, root.Close()))
	}
	return &folder{root: root, entries: entries}, nil
}

func (s *Source) unreadable(err error) error {
	return fmt.Errorf("the folder of skills %s cannot be read: %w", s.dir, bare(err))
}

// bare takes the operation and the path off an error: they are named in better
// words around it.
func bare(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

func (f *folder) close() { _ = f.root.Close() } // nothing was written

// skills are the names of all skills.
func (f *folder) skills() []string {
	var names []string
	for _, e := range f.entries {
		if e.IsDir() && plain(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

// skill opens the folder of one skill.
func (f *folder) skill(name string) (*os.Root, error) {
	for _, e := range f.entries {
		switch {
		case e.Name() != name || !plain(name):
		case e.IsDir():
			root, err := f.root.OpenRoot(name)
			if err != nil {
				return nil, refuse(codeUnreadable, retrySame, "The skill %s cannot be read: %v.", name, bare(err))
			}
			return root, nil
		case e.Type()&fs.ModeSymlink != 0:
			return nil, f.unknown(name, fmt.Sprintf("The skill %s is %s.", name, what(e.Type())))
		}
	}
	return nil, f.unknown(name, fmt.Sprintf("There is no skill %q.", clip(name)))
}

func (f *folder) unknown(name, message string) error {
	known := f.skills()
	if len(known) == 0 {
		message += " There are no skills at all."
	} else {
		message += " The skills are: " + enumerate(known) + "."
	}
	return refuse(codeUnknownSkill, retryChange, "%s", message).
		offer(name, known, func(name string) candidate { return candidate{Skill: name} })
}

// enumerate names the first of names.
func enumerate(names []string) string {
	if len(names) > maxCandidates {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxCandidates], ", "), len(names)-maxCandidates)
	}
	return strings.Join(names, ", ")
}

// visible reads a folder's entries by name, without those that are hidden.
func visible(root *os.Root, dir string) ([]fs.DirEntry, error) {
	all, err := fs.ReadDir(root.FS(), dir)
	if err != nil {
		return nil, err
	}
	var shown []fs.DirEntry
	for _, e := range all {
		if !hidden(e.Name()) {
			shown = append(shown, e)
		}
	}
	return shown, nil
}

func hidden(name string) bool { return strings.HasPrefix(name, ".") }

// plain reports whether a name can be written in an answer and sent back.
func plain(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl)
}

// what says what an entry is that cannot be used as it was meant.
func what(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "a file, not a folder"
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link, which is not followed"
	}
	return "not a regular file"
}
