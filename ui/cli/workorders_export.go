package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"deskhand/mcp/workorders"
)

func newExport(o *options) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Print the whole book as one JSON object, or write it as CSV files",
		Long: "Print the whole book as one JSON object, in the form of the demo data, or write a folder of CSV files\n" +
			"for a spreadsheet. If a console or server holds the book, that one is asked. Importing an export gives\n" +
			"the same book again.",
		Example: `  deskhand workorders export > book.json
  deskhand workorders export --csv book/`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir != "" {
				return exportCSV(cmd.Context(), o, dir)
			}
			return o.withBook(cmd.Context(), func(b *workorders.Book) error { return b.Export(o.out) },
				func(ctx context.Context, h workorders.Holder) error { return h.Export(ctx, o.out) })
		},
	}
	cmd.Flags().StringVar(&dir, "csv", "", "write CSV files into the folder `DIR`, one for each kind of record")
	return cmd
}

// exportCSV writes the folder. From a holder it gets a copy of the book first.
func exportCSV(ctx context.Context, o *options, dir string) error {
	err := o.withBook(ctx, func(b *workorders.Book) error { return b.ExportCSV(dir) },
		func(ctx context.Context, h workorders.Holder) error {
			tmp, err := os.MkdirTemp("", "deskhand-export-*")
			if err != nil {
				return err
			}
			defer func() { _ = os.RemoveAll(tmp) }()
			path := filepath.Join(tmp, bookFile)
			if err := newFile(path, func(w io.Writer) error { return h.Backup(ctx, w) }); err != nil {
				return err
			}
			copied, err := workorders.Open(path, o.bookOptions(consoleWait))
			if err != nil {
				return err
			}
			return errors.Join(copied.ExportCSV(dir), copied.Close())
		})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.out, "The book is in %s. Take it back with: deskhand workorders import %s\n", dir, dir)
	return err
}

func newBackup(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the book into a file, also while it is in use",
		Long: "Copy the book into a new file, whole and consistent, also while a console or server works with it. To\n" +
			"go back, stop whoever has the book and put the file in the place of " + bookFile + " in the home.",
		Example: "  deskhand workorders backup book-tuesday.db",
		Args:    exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := newFile(args[0], func(w io.Writer) error {
				return o.withBook(cmd.Context(), func(b *workorders.Book) error { return b.Backup(w) },
					func(ctx context.Context, h workorders.Holder) error { return h.Backup(ctx, w) })
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(o.out, "The book is copied into %s.\n", args[0])
			return err
		},
	}
}

// newFile makes a private file of what f writes. A file that is there stays.
func newFile(path string, f func(io.Writer) error) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s is there already: choose another name, or remove it", path)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	if err := errors.Join(f(tmp), tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	err = os.Link(tmp.Name(), path)
	if err != nil && !errors.Is(err, fs.ErrExist) { // a file system without hard links
		err = os.Rename(tmp.Name(), path)
	}
	return err
}
