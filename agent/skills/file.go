package skills

import (
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// find looks a file up by the names that the folders on its way give, so that
// nothing but those names leads to a file. It opens it.
func find(root *os.Root, file string) (*os.File, error) {
	if !fs.ValidPath(file) || file == "." {
		return nil, refuse(codeUnknownFile, retryChange, "%q is not a path below the skill's folder.", clip(file))
	}
	dir := "."
	parts := strings.Split(file, "/")
	for i, part := range parts {
		entries, err := visible(root, dir)
		if err != nil {
			return nil, refuse(codeUnreadable, retrySame, "%s cannot be read: %v.", clip(dir), bare(err))
		}
		mode, found := lookUp(entries, part)
		dir = path.Join(dir, part)
		last := i == len(parts)-1
		switch {
		case !found:
			return nil, refuse(codeUnknownFile, retryChange, "There is no file %q in the skill.", clip(file))
		case last && !mode.IsRegular(), !last && !mode.IsDir():
			return nil, refuse(codeUnknownFile, retryChange, "%s is %s.", clip(dir), what(mode))
		}
	}
	return openRegular(root, file)
}

func lookUp(entries []fs.DirEntry, name string) (fs.FileMode, bool) {
	for _, e := range entries {
		if e.Name() == name && plain(name) {
			return e.Type(), true
		}
	}
	return 0, false
}

// openRegular opens a file and makes sure that it is one: between the look at
// its name and the opening, something else could have taken its place.
func openRegular(root *os.Root, file string) (*os.File, error) {
	opened, err := root.Open(file)
	if err != nil {
		return nil, refuse(codeUnreadable, retrySame, "%s cannot be read: %v.", clip(file), bare(err))
	}
	info, err := opened.Stat()
	if err == nil && info.Mode().IsRegular() {
		return opened, nil
	}
	_ = opened.Close() // nothing was written
	return nil, refuse(codeUnreadable, retrySame, "%s is not a regular file any more.", clip(file))
}

// readStart reads at most limit bytes of a file, and says how large it is.
func readStart(root *os.Root, file string, limit int64) (text []byte, size int64, err error) {
	opened, err := find(root, file)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = opened.Close() }() // nothing was written
	info, err := opened.Stat()
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(opened, limit))
	}
	if err != nil {
		return nil, 0, refuse(codeUnreadable, retrySame, "%s cannot be read: %v.", clip(file), bare(err))
	}
	return text, max(info.Size(), int64(len(text))), nil
}
