package cli

import (
	"context"

	"github.com/spf13/cobra"
)

func newDeskExport(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "export",
		Short: "Print every record of the desk, one JSON object a line",
		Long: "Print every record of the desk as it lies in the store, one JSON object a line. Records that are\n" +
			"damaged, or written by a newer version, are among them, with what is wrong. The book of the\n" +
			"work-orders server has an export of its own: deskhand workorders export.",
		Example: `  deskhand export > desk.jsonl`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withDesk(cmd, o, func(ctx context.Context, d *desk) error { return d.store.Export(ctx, o.out) })
		},
	}
}
