package skills

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// Limits of what is listed of one skill.
const (
	// maxDepth is how many folders lie on the way to a listed file at most.
	maxDepth = 8
	// maxEntries is how many entries are looked at.
	maxEntries = 5000
)

// fileInfo is one file of a skill.
type fileInfo struct {
	File string `json:"file"`
	Size int64  `json:"size"`
}

// leftOut is an entry that is not read, and why.
type leftOut struct {
	File string `json:"file"`
	Why  string `json:"why"`
}

// contents are the files of a skill in the order of their paths.
type contents struct {
	files   []fileInfo
	leftOut []leftOut
	limit   int
	// more says that the limits left something out.
	more bool
}

// walk lists at most limit files of a skill.
func walk(ctx context.Context, root *os.Root, limit int) (contents, error) {
	c := contents{limit: limit}
	seen := 0
	err := fs.WalkDir(root.FS(), ".", func(at string, e fs.DirEntry, err error) error {
		switch seen++; {
		case ctx.Err() != nil:
			return ctx.Err()
		case at == ".":
			return err
		case seen > maxEntries:
			c.more = true
			return fs.SkipAll
		case hidden(e.Name()) && e.IsDir():
			return fs.SkipDir
		case hidden(e.Name()):
			return nil
		}
		return c.take(at, e, err)
	})
	return c, err
}

// take looks at one entry. failed is what reading it as a folder gave.
func (c *contents) take(at string, e fs.DirEntry, failed error) error {
	why := ""
	switch {
	case !plain(e.Name()):
		at, why = fmt.Sprintf("%q", at), "its name is not plain text"
	case failed != nil:
		why = fmt.Sprintf("it cannot be read: %v", bare(failed))
	case e.IsDir() && strings.Count(at, "/") >= maxDepth:
		why = fmt.Sprintf("it is more than %d folders deep", maxDepth)
	case e.IsDir():
		return nil
	case !e.Type().IsRegular():
		why = "it is " + what(e.Type())
	}
	if len(c.files)+len(c.leftOut) >= c.limit {
		c.more = true
		return fs.SkipAll
	}
	c.add(at, e, why)
	if e.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func (c *contents) add(at string, e fs.DirEntry, why string) {
	var size int64
	if why == "" {
		info, err := e.Info()
		if err != nil {
			why = fmt.Sprintf("it cannot be read: %v", bare(err))
		} else {
			size = info.Size()
		}
	}
	if why != "" {
		c.leftOut = append(c.leftOut, leftOut{File: at, Why: why})
		return
	}
	c.files = append(c.files, fileInfo{File: at, Size: size})
}
