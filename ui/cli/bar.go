package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/charmbracelet/bubbles/progress"
	"github.com/mattn/go-isatty"
)

// bar shows a person how far something long is. The zero value shows nothing.
type bar struct {
	w     io.Writer
	model progress.Model
	from  int64
	shown int // percent
	drawn bool
}

// progressBar is for standard error, if a person looks at it, and for work of
// at least from steps.
func (o *options) progressBar(from int64) *bar {
	f, ok := o.err.(*os.File)
	if !ok || !isatty.IsTerminal(f.Fd()) {
		return &bar{}
	}
	return &bar{w: f, model: progress.New(progress.WithWidth(40)), from: from, shown: -1}
}

func (b *bar) show(done, total int64) {
	if b.w == nil || total < b.from {
		return
	}
	// The last percent is what comes after the last step.
	if percent := int(done * 99 / total); percent != b.shown {
		b.shown, b.drawn = percent, true
		_, _ = fmt.Fprint(b.w, "\r"+b.model.ViewAs(float64(percent)/100)) // a bar that cannot be drawn stops nothing
	}
}

// done takes the bar away.
func (b *bar) done() {
	if b.drawn {
		_, _ = fmt.Fprint(b.w, "\r\x1b[K")
	}
}
