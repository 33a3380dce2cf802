package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"deskhand/mcp/workorders"
)

// importFlags are the flags of workorders import.
type importFlags struct {
	dryRun, replace, yes, json bool
	company                    workorders.CompanyOptions
}

func newImport(o *options) *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import FILE_OR_FOLDER...",
		Short: "Fill the book from spreadsheets (CSV) or an export (JSON)",
		Long: `Fill the book from CSV files, as a spreadsheet saves them, or from an export.

Name each CSV file after what it holds: technicians.csv, customers.csv, sites.csv, assets.csv, parts.csv,
suppliers.csv, stock_locations.csv, work_orders.csv, visits.csv, part_orders.csv. The first row names the
columns, commas or semicolons separate them, and a few columns are enough:

  technicians.csv   name,skills,regions,shifts
                    Anna Berg,hvac; plumbing until 2027-01-31,north,mon-fri 08:00-17:00
  sites.csv         name,customer,address,region
                    Bakery,Bread & Co,Mill Road 1,north
  parts.csv         sku,name,price,supplier,lead_time
                    FAN-12,Fan motor 12 W,84.90,Cold Parts,2
  work_orders.csv   id,title,site,priority,technician,skills,due
                    17,Freezer is warm,Bakery,high,Anna Berg,hvac,2026-12-03 12:00

What a row refers to may be written as its id or its name. Times without an offset are meant at the site, or
in the company's zone. To see every column, look at: deskhand workorders export --csv FOLDER

Nothing is written unless every row is right; each mistake is listed with file, row and column. The demo book
gives way to the first rows that come; after that, rows are added to the book. An export replaces the book.`,
		Example: `  deskhand workorders import --dry-run spreadsheets/
  deskhand workorders import spreadsheets/ --company "Lind & Berg" --timezone Europe/Brussels
  deskhand workorders import book.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &usageError{errors.New("say what to import: CSV or JSON files, or a folder of them; see deskhand workorders import --help")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return importBook(cmd.Context(), o, f, args) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.dryRun, "dry-run", false, "check everything and write nothing")
	flags.BoolVar(&f.replace, "replace", false, "throw away what the book has, also where rows would be added")
	flags.BoolVar(&f.yes, "yes", false, "do not ask before the book is replaced")
	flags.BoolVar(&f.json, "json", false, "print the result, or the mistakes, as one JSON object")
	flags.StringVar(&f.company.Name, "company", "", "the `NAME` of the company, where the files do not describe it")
	flags.StringVar(&f.company.Timezone, "timezone", "", "the company's `ZONE`, like Europe/Brussels (default: this machine's)")
	flags.StringVar(&f.company.Currency, "currency", "", "the company's currency, a `CODE` like EUR (the default)")
	return cmd
}

// importBook decides whether the files replace the book, and imports them.
func importBook(ctx context.Context, o *options, f importFlags, paths []string) error {
	whole, err := workorders.DescribesCompany(paths)
	if err != nil {
		return o.importError(f, err)
	}
	book, err := o.openBook(consoleWait)
	if err != nil {
		return err
	}
	defer func() { _ = book.Close() }()
	add := !whole && !f.replace && !book.Demo()
	if !add && !f.dryRun && !f.yes && book.Worked() {
		if err := o.mayReplace(); err != nil {
			return err
		}
	}
	if f.company.Timezone == "" {
		f.company.Timezone = machineZone(o.getenv)
	}
	bar := o.progressBar(barFrom)
	counts, err := book.Import(ctx, workorders.ImportOptions{
		Paths: paths, DryRun: f.dryRun, Add: add, Company: f.company, Progress: bar.show,
	})
	bar.done()
	if err != nil {
		return o.importError(f, err)
	}
	return o.printImported(f, add, counts)
}

// mayReplace asks whether the work in the book may be thrown away.
func (o *options) mayReplace() error {
	if !o.terminal() {
		return &usageError{errors.New("this replaces the book, in which somebody has worked: add --yes to say that you mean it, or keep a copy first with deskhand workorders export")}
	}
	ok, err := confirm(o.in, o.out, fmt.Sprintf("Throw away everything in %s and take the new book? Type yes: ", filepath.Join(o.home, bookFile)))
	if err == nil && !ok {
		err = errors.New("nothing was changed")
	}
	return err
}

// imported is what --json prints.
type imported struct {
	DryRun   bool           `json:"dryRun"`
	Replaced bool           `json:"replaced"`
	Records  map[string]int `json:"records"`
	Errors   []rowMistake   `json:"errors"`
}

type rowMistake struct {
	File   string `json:"file"`
	Row    int    `json:"row,omitempty"`
	Column string `json:"column,omitempty"`
	Reason string `json:"reason"`
}

func (o *options) printImported(f importFlags, add bool, counts []workorders.Imported) error {
	if f.json {
		out := imported{DryRun: f.dryRun, Replaced: !add && !f.dryRun, Records: map[string]int{}, Errors: []rowMistake{}}
		for _, c := range counts {
			out.Records[c.Kind] = c.Count
		}
		return json.NewEncoder(o.out).Encode(out)
	}
	head := "Imported:"
	switch {
	case f.dryRun:
		head = "Every row is right; nothing was written. An import would bring:"
	case add:
		head = "Added to the book:"
	}
	w := tabwriter.NewWriter(o.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(o.out, head)
	for _, c := range counts {
		_, _ = fmt.Fprintf(w, "%d\t %s\n", c.Count, kindWords(c))
	}
	return w.Flush()
}

// kindWords names a kind of record for people.
func kindWords(c workorders.Imported) string {
	words := strings.ReplaceAll(c.Kind, "_", " ")
	switch {
	case words == "journal":
		return "entries of the journal"
	case c.Count == 1:
		return strings.TrimSuffix(words, "s")
	}
	return words
}

// importError lists the mistakes and says what to do about them.
func (o *options) importError(f importFlags, err error) error {
	var rows *workorders.ImportErrors
	if !errors.As(err, &rows) {
		return err
	}
	if f.json {
		out := imported{DryRun: f.dryRun, Records: map[string]int{}}
		for _, r := range rows.Rows {
			out.Errors = append(out.Errors, rowMistake(r))
		}
		if err := json.NewEncoder(o.out).Encode(out); err != nil {
			return err
		}
	} else if len(rows.Rows) > 1 {
		for _, r := range rows.Rows {
			_, _ = fmt.Fprintln(o.out, oneLine(visible(r.Error())))
		}
	}
	return fmt.Errorf("nothing was imported: %w: correct that and import again", err)
}

// machineZone is the zone of this machine's clock by its name.
func machineZone(getenv func(string) string) string {
	names := []string{strings.TrimPrefix(getenv("TZ"), ":")}
	if link, err := os.Readlink("/etc/localtime"); err == nil {
		_, name, _ := strings.Cut(filepath.ToSlash(link), "zoneinfo/")
		names = append(names, name)
	}
	for _, name := range names {
		if _, err := time.LoadLocation(name); err == nil && name != "" {
			return name
		}
	}
	return "UTC"
}

// barFrom is the size, in bytes, from which an import takes long enough to watch.
const barFrom = 4 << 20
