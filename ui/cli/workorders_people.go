package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"deskhand/mcp/workorders"
)

// newJobFlags are the flags of workorders new, by the argument they fill.
type newJobFlags struct {
	site, problem, kind, priority, asset, technician, due, respond, reportedBy, budget, key string
	skills                                                                                  []string
	minutes                                                                                 int
	json                                                                                    bool
}

func newNewJob(o *options) *cobra.Command {
	var f newJobFlags
	cmd := &cobra.Command{
		Use:   "new TITLE --site SITE",
		Short: "Take a new job into the book",
		Long: "Take a new job into the book, in the state new. The site, the equipment and the technician may be named by\n" +
			"id or by name. Times are meant at the site, like \"2026-12-02 17:00\", unless they have an offset.",
		Example: `  deskhand workorders new "Oven does not heat" --site "Saltgrain Bakery" --priority high --due "2026-12-02 17:00"
  deskhand workorders new "Yearly service" --site S-107 --type maintenance --skill gas_heating --json`,
		Args: exactly("TITLE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			arguments, err := f.arguments(args[0])
			if err != nil {
				return err
			}
			return o.act(cmd.Context(), "new", arguments, f.json)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.site, "site", "", "the `SITE`, by id, name or address")
	flags.StringVar(&f.problem, "problem", "", "what the customer said, as `TEXT`")
	flags.StringVar(&f.kind, "type", "", "the `TYPE`: repair (the default), maintenance, inspection or installation")
	flags.StringVar(&f.priority, "priority", "", "the `PRIORITY`: emergency, high, normal (the default) or low")
	flags.StringVar(&f.asset, "asset", "", "the `EQUIPMENT` at the site, by id or model")
	flags.StringSliceVar(&f.skills, "skill", nil, "a `SKILL` that the job needs; may be repeated")
	flags.StringVar(&f.technician, "technician", "", "the `TECHNICIAN` who shall have it, by id or name")
	flags.IntVar(&f.minutes, "minutes", 0, "how long it takes, `N` minutes (default 60)")
	flags.StringVar(&f.due, "due", "", "it must be done by this `TIME`")
	flags.StringVar(&f.respond, "respond", "", "somebody must answer by this `TIME`")
	flags.StringVar(&f.reportedBy, "reported-by", "", "who told us, as `TEXT` (default phone)")
	flags.StringVar(&f.budget, "budget", "", "what parts may cost, an `AMOUNT` like 250.00 (default: the lowest limit at the desk)")
	flags.StringVar(&f.key, "key", "", "take the job in once, however often this `KEY` comes")
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

// amounts are decimal amounts, with a point or a comma.
var amounts = regexp.MustCompile(`^([0-9]{1,10})(?:[.,]([0-9]{1,2}))?$`)

// arguments are the command's, without what was not given.
func (f newJobFlags) arguments(title string) (map[string]any, error) {
	if strings.TrimSpace(f.site) == "" {
		return nil, &usageError{errors.New("say where the job is: --site SITE")}
	}
	a := map[string]any{"title": title, "skills": f.skills, "minutes": f.minutes}
	for name, value := range map[string]string{
		"site": f.site, "problem": f.problem, "type": f.kind, "priority": f.priority, "asset": f.asset, "technician": f.technician,
		"due": f.due, "respond": f.respond, "reported_by": f.reportedBy, "idempotency_key": f.key,
	} {
		if value != "" {
			a[name] = value
		}
	}
	if f.budget != "" {
		m := amounts.FindStringSubmatch(f.budget)
		if m == nil {
			return nil, &usageError{errors.New("write --budget as an amount like 250.00")}
		}
		minor, err := strconv.ParseInt(m[1]+(m[2] + "00")[:2], 10, 64)
		if err != nil {
			return nil, &usageError{err}
		}
		a["budget_minor"] = minor
	}
	return a, nil
}

func newSetStatus(o *options) *cobra.Command {
	var reason string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "set-status ID STATUS",
		Short: "Move a job, a visit or a part order on",
		Long: `Move a job, a visit or a part order on to its next state.

  jobs          new -> on_hold, cancelled         scheduled -> dispatched -> in_progress -> completed -> closed
                in_progress -> waiting_parts, on_hold    completed -> in_progress (a manager)
  visits        booked -> en_route -> on_site -> done, no_access
  part orders   approved -> ordered -> shipped, back_ordered -> shipped

A job's visit follows: who is dispatched is on the way, work in progress is on site. Visits are booked, moved
and cancelled by the assistant; goods are received with deskhand workorders receive.`,
		Example: `  deskhand workorders set-status WO-1043 dispatched
  deskhand workorders set-status WO-1018 on_hold --reason "the customer is away until Monday"
  deskhand workorders set-status PO-3020 ordered`,
		Args: exactly("ID", "STATUS"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.act(cmd.Context(), "set-status", map[string]any{"id": args[0], "status": args[1], "reason": reason}, asJSON)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, as `TEXT`; on_hold needs it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// orderCommand is a command about one part order.
func orderCommand(o *options, name, short, long, example string, reasoned bool) *cobra.Command {
	var reason string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     name + " PO-ID",
		Short:   short,
		Long:    long,
		Example: "  deskhand " + example,
		Args:    exactly("PO-ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.act(cmd.Context(), name, map[string]any{"part_order_id": args[0], "reason": reason}, asJSON)
		},
	}
	if reasoned {
		cmd.Flags().StringVar(&reason, "reason", "", "why, as `TEXT`")
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func newPeople(o *options) []*cobra.Command {
	return []*cobra.Command{
		newNewJob(o), newSetStatus(o),
		orderCommand(o, "receive", "Say that the goods of a part order are there",
			"Say that the goods of a part order are there. A job that waited only for them, and has a visit, is scheduled.",
			"workorders receive PO-3004", false),
		orderCommand(o, "approve", "Approve a part order that a client without a desk asked for",
			"Approve a part order that waits as pending approval in the book, because a client without a desk asked for\n"+
				"it above the limit. Cards of the desk are decided with deskhand approve. Whoever approves (see --user) must\n"+
				"have the limit. The order is recorded in the book and not sent to the supplier.",
			"--user U-03 workorders approve PO-3013", false),
		orderCommand(o, "reject", "Reject a part order that a client without a desk asked for",
			"Reject a part order that waits as pending approval in the book. Nothing is ordered.",
			`workorders reject PO-3013 --reason "we have one in the van"`, true),
		orderCommand(o, "order-text", "Print a part order as a text for the supplier",
			"Print a part order as a text that can be sent to the supplier. Deskhand sends nothing itself.",
			"workorders order-text PO-3020 | mail orders@example.com", false),
	}
}

// act carries out a person's command, or asks whoever holds the book to.
func (o *options) act(ctx context.Context, command string, arguments map[string]any, asJSON bool) error {
	raw, err := json.Marshal(arguments)
	if err != nil {
		return err
	}
	user, err := o.deskUser()
	if err != nil {
		return err
	}
	a := workorders.Act{Command: command, User: user, Arguments: raw}
	var done workorders.Done
	err = o.withBook(ctx, func(b *workorders.Book) (err error) {
		done, err = b.Do(ctx, a)
		return err
	}, func(ctx context.Context, h workorders.Holder) (err error) {
		done, err = h.Do(ctx, a)
		return err
	})
	var refused *workorders.Refusal
	if errors.As(err, &refused) {
		return errors.New(refused.Message + refusedNext(command, refused))
	}
	if err != nil {
		return err
	}
	if asJSON {
		_, err = fmt.Fprintf(o.out, "%s\n", done.Result)
		return err
	}
	_, err = fmt.Fprintln(o.out, strings.TrimSuffix(visible(done.Text), "\n"))
	return err
}

// refusedNext says what to do about a refusal where its message does not.
func refusedNext(command string, r *workorders.Refusal) string {
	switch {
	case command == "approve" && r.Details["approver_needed"] != nil:
		return fmt.Sprintf(" Nothing was approved: a %s has to do it, with --user.", strings.ReplaceAll(fmt.Sprint(r.Details["approver_needed"]), "_", " "))
	case r.Code == "needs_manager":
		return " Let one do it, with --user."
	case r.Code == "user_not_found" && len(r.Candidates) > 0:
		var users []string
		for _, c := range r.Candidates {
			users = append(users, fmt.Sprintf("%v (%v)", c["user"], c["name"]))
		}
		return " Choose with --user: " + strings.Join(users, ", ") + "."
	}
	return ""
}

// deskUser is who acts: --user, or the configuration's, or else nobody named.
func (o *options) deskUser() (string, error) {
	if o.user != "" {
		return o.user, nil
	}
	c, _, err := loadConfig(o.configPath(), o.config != "", o.getenv)
	return string(c.User), err
}
