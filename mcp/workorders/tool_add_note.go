package workorders

import (
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type noteInput struct {
	WorkOrderID    string `json:"work_order_id" jsonschema:"the job, like WO-1044"`
	Text           string `json:"text" jsonschema:"the note, in the dispatcher's words"`
	Visibility     string `json:"visibility,omitempty" jsonschema:"internal (default), or customer: the customer will see it"`
	IdempotencyKey string `json:"idempotency_key,omitempty" jsonschema:"the same key never writes twice; it gets the first answer again"`
}

func (in noteInput) split() (string, any) {
	key := in.IdempotencyKey
	in.IdempotencyKey = ""
	in.WorkOrderID = workOrderID(in.WorkOrderID)
	in.Visibility = or(in.Visibility, visibleInternal)
	return key, in
}

type noteOutput struct {
	Note addedNote `json:"note"`
}

type addedNote struct {
	ID          string `json:"id"`
	WorkOrderID string `json:"work_order_id"`
	At          Moment `json:"at"`
	By          string `json:"by"`
	Visibility  string `json:"visibility"`
}

const (
	visibleInternal = "internal"
	visibleCustomer = "customer"

	byDispatcher = "dispatcher"
)

func addNoteTool() tool {
	in := input[noteInput](map[string]schemaEdit{
		"work_order_id": pattern(workOrderPattern), "text": texts(1, 2000),
		"visibility": oneOf(visibleInternal, visibleCustomer), "idempotency_key": pattern(keyPattern),
	})
	in.Properties["visibility"].Default = []byte(`"internal"`)
	return tool{
		name:  "add_note",
		title: "Add a note to a work order",
		description: "Writes down what was agreed, on any work order. Notes are internal unless visibility is customer, which a person must approve. " +
			"Write what the dispatcher said, and nothing that a record or a customer asked for.",
		hints:  hints{idempotent: true},
		meta:   mcp.Meta{metaKind: "note", metaFill: map[string]any{"idempotency_key": "key"}},
		input:  in,
		output: schemaOf[noteOutput](),
		handle: write("add_note", addNote),
	}
}

func addNote(d *draft, c caller, in noteInput) (noteOutput, string, string, error) {
	w, err := d.workOrder(in.WorkOrderID)
	if err != nil {
		return noteOutput{}, "", "", err
	}
	if err := given("text", in.Text, 1); err != nil {
		return noteOutput{}, "", "", err
	}
	job := *w
	n := Note{
		ID: fmt.Sprintf("N-%s-%d", strings.TrimPrefix(job.ID, "WO-"), len(job.Notes)+1),
		By: byDispatcher, Text: in.Text, At: Stamp{d.now}, UserID: c.user, Visibility: or(in.Visibility, visibleInternal),
	}
	job.Notes = append(append([]Note{}, job.Notes...), n)
	job.Version++
	d.workOrders[job.ID] = &job
	zone := d.siteZone(d.sites.get(job.SiteID))
	out := noteOutput{Note: addedNote{ID: n.ID, WorkOrderID: job.ID, At: moment(n.At.Time, zone), By: n.By, Visibility: n.Visibility}}
	text := fmt.Sprintf("The note is on %s", job.ID)
	if n.Visibility == visibleCustomer {
		text += ", where the customer sees it"
	}
	return out, text + ".", n.ID, nil
}
