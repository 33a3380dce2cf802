package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"deskhand/agent"
)

func TestAnApprovalIsSeenWithEverythingOnItsCardAndDecidedByItsID(t *testing.T) {
	d := newDoor(t)
	if r := d.do("GET", "/approvals", ""); r.status != http.StatusOK || strings.TrimSpace(r.body) != "[]" {
		t.Errorf("%d %s", r.status, r.body)
	}
	d.dispatch(`{"message":"` + orderLine + `"}`)
	var cards []Card
	if err := json.Unmarshal([]byte(d.do("GET", "/approvals", "").body), &cards); err != nil || len(cards) != 1 {
		t.Fatalf("%+v, %v", cards, err)
	}
	card := cards[0]
	if card.ApprovalID != "A-1" || card.State != agent.ApprovalOpen || card.Status != agent.CallWaiting || card.Digest == "" ||
		len(card.Preview) == 0 || card.Summary == "" || !bytes.Contains(card.Args, []byte(`"quantity":1`)) {
		t.Errorf("%+v", card)
	}
	var one Card
	if err := json.Unmarshal([]byte(d.do("GET", "/approvals/A-1", "").body), &one); err != nil || one.Digest != card.Digest || one.Summary != card.Summary {
		t.Errorf("%+v, %v", one, err)
	}
	d.wantError(d.do("GET", "/approvals/A-2", ""), http.StatusNotFound, statusNotFound)
	d.wantError(d.do("POST", "/approvals/A-1/decision", `{"reason":"x"}`), http.StatusBadRequest, statusInvalid)
	d.wantError(d.do("POST", "/approvals/A-1/decision", `{"approved":true,"digest":"other"}`), http.StatusConflict, statusPrecondition)
	r := d.do("POST", "/approvals/A-1/decision", `{"approved":true,"digest":"`+card.Digest+`"}`)
	if r.status != http.StatusOK || !strings.Contains(r.body, "1 order placed") {
		t.Errorf("%d %s", r.status, r.body)
	}
	d.orders(1)
	if err := json.Unmarshal([]byte(d.do("GET", "/approvals/A-1", "").body), &one); err != nil || one.State != agent.ApprovalApproved || one.Decision == nil {
		t.Errorf("%+v, %v", one, err)
	}
	r = d.do("GET", "/conversations/"+string(card.ConversationID), "")
	if r.status != http.StatusOK || !strings.Contains(r.body, `"status":"completed"`) {
		t.Errorf("%d %s", r.status, r.body)
	}
	d.wantError(d.do("GET", "/conversations/nowhere", ""), http.StatusNotFound, statusNotFound)
}

func TestReadinessSaysWhatIsMissing(t *testing.T) {
	state := Readiness{Ready: true, Store: "ok", Model: "scripted", Servers: map[string]string{"work-orders": "ready"}}
	d := newDoor(t, func(o *Options) { o.Ready = func(context.Context) Readiness { return state } })
	d.dispatch(`{"message":"` + orderLine + `"}`)
	if r := d.do("GET", "/readyz", ""); r.status != http.StatusOK || !strings.Contains(r.body, `"waiting":1`) || !strings.Contains(r.body, `"work-orders":"ready"`) {
		t.Errorf("%d %s", r.status, r.body)
	}
	state.Ready, state.Servers["work-orders"] = false, "down"
	if r := d.do("GET", "/readyz", ""); r.status != http.StatusServiceUnavailable || !strings.Contains(r.body, `"work-orders":"down"`) {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := d.do("GET", "/healthz", ""); r.status != http.StatusOK {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// TestAnswersAreWhatTheDocumentSays validates real answers against the schemas
// of the document that this server gives.
func TestAnswersAreWhatTheDocumentSays(t *testing.T) {
	d := newDoor(t, func(o *Options) {
		o.Metrics = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	})
	var document struct {
		OpenAPI    string
		Paths      map[string]map[string]struct{ OperationID string }
		Components struct{ Schemas map[string]*jsonschema.Schema }
	}
	text := d.do("GET", "/openapi.json", "").body
	if err := json.Unmarshal([]byte(text), &document); err != nil || document.OpenAPI != "3.1.0" {
		t.Fatal(err)
	}
	for _, part := range strings.Split(text, `"$ref": "`)[1:] {
		ref, _, _ := strings.Cut(part, `"`)
		name, ok := strings.CutPrefix(ref, "#/components/schemas/")
		if !ok || document.Components.Schemas[name] == nil {
			t.Errorf("%s leads nowhere", ref)
		}
	}
	for path, methods := range document.Paths {
		for method, operation := range methods {
			body := map[bool]string{true: "{}"}[method == "post"]
			r := d.do(strings.ToUpper(method), strings.ReplaceAll(path, "{id}", "A-9"), body)
			if operation.OperationID == "" || r.status == http.StatusMethodNotAllowed || r.status == http.StatusNotFound && !strings.Contains(r.body, "A-9") {
				t.Errorf("%s %s is not served: %d %s", method, path, r.status, r.body)
			}
		}
	}
	fits := func(name, document_ string) {
		t.Helper()
		resolved, err := document.Components.Schemas[name].Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := json.Unmarshal([]byte(document_), &value); err != nil {
			t.Fatalf("%s: %v", document_, err)
		}
		if err := resolved.Validate(value); err != nil {
			t.Errorf("%s does not fit %s: %v", document_, name, err)
		}
	}
	member := func(name, text string) string {
		var m map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		return string(m[name])
	}
	fits("Request", `{"message":"hello"}`)
	fits("Request", `{"approvalId":"A-1","edits":{"quantity":2}}`)
	asked := d.do("POST", "/dispatchAgent", `{"data":{"message":"`+orderLine+`"}}`)
	fits("Answer", member("result", asked.body))
	card := d.do("GET", "/approvals/A-1", "").body
	fits("Card", card)
	fits("Error", member("error", d.do("GET", "/approvals/A-2", "").body))
	fits("Decision", `{"approved":true}`)
	fits("Answer", d.do("POST", "/approvals/A-1/decision", `{"approved":true}`).body)
	fits("Error", member("error", d.do("POST", "/approvals/A-1/decision", `{"approved":true}`).body))
	fits("Report", d.do("GET", "/conversations/"+strings.Trim(member("conversationId", card), `"`), "").body)
	fits("Readiness", d.do("GET", "/readyz", "").body)
}
