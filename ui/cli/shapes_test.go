package cli_test

import (
	"encoding/json"
	"time"
)

// The types below are the JSON that the command line promises, written down a
// second time on purpose: what changes there must be seen to change here.

// answer is what ask, approve, deny and the like print with --json.
type answer struct {
	Answer         string     `json:"answer"`
	OrderIDs       []string   `json:"orderIds"`
	ApprovalID     string     `json:"approvalId"`
	ConversationID string     `json:"conversationId"`
	TurnID         string     `json:"turnId"`
	Status         string     `json:"status"`
	Ledger         string     `json:"ledger"`
	Approvals      []approval `json:"approvals"`
	Calls          []call     `json:"calls"`
}

// approval is one entry of approvals --json.
type approval struct {
	ApprovalID     string    `json:"approvalId"`
	CallID         string    `json:"callId"`
	ConversationID string    `json:"conversationId"`
	Tool           string    `json:"tool"`
	Args           orderArgs `json:"args"`
	Digest         string    `json:"digest"`
	Preview        quote     `json:"preview"`
	Warnings       []warning `json:"warnings"`
	Because        string    `json:"because"`
	Status         string    `json:"status"`
	Reason         string    `json:"reason"`
	RequestedAt    time.Time `json:"requestedAt"`
}

type orderArgs struct {
	WorkOrder string `json:"work_order_id"`
	SKU       string `json:"sku"`
	Quantity  int    `json:"quantity"`
	Key       string `json:"idempotency_key"`
	Limit     int    `json:"max_total_minor"`
}

// quote is what a card for an order is drawn from.
type quote struct {
	Line struct {
		Total struct {
			Minor    int    `json:"minor"`
			Currency string `json:"currency"`
		} `json:"total"`
	} `json:"line"`
	Supplier struct {
		Name string `json:"name"`
	} `json:"supplier"`
	Expected struct {
		At    time.Time `json:"at"`
		Local string    `json:"local"`
	} `json:"expected_on"`
}

type warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type call struct {
	ID      string          `json:"id"`
	ModelID string          `json:"modelId"`
	Tool    string          `json:"tool"`
	Alias   string          `json:"alias"`
	Args    json.RawMessage `json:"args"`
	Status  string          `json:"status"`
	Result  *struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		IsError bool `json:"isError"`
	} `json:"result"`
}

// text is what the model hears of a call.
func (c call) text() string {
	if c.Result == nil || len(c.Result.Content) == 0 {
		return ""
	}
	return c.Result.Content[0].Text
}

// conversation is what show --json prints.
type conversation struct {
	ID       string `json:"conversationId"`
	Title    string `json:"title"`
	Status   string `json:"status"`
	Turn     answer `json:"turn"`
	Messages []struct {
		Role   string `json:"role"`
		Text   string `json:"text"`
		Calls  []call `json:"calls"`
		Ledger string `json:"ledger"`
	} `json:"messages"`
	Queue []struct {
		Text string `json:"text"`
	} `json:"queue"`
}

// tool gives the newest call of a tool.
func (c conversation) tool(name string) call {
	var found call
	for _, m := range c.Messages {
		for _, made := range m.Calls {
			if made.Tool == name {
				found = made
			}
		}
	}
	return found
}

// book is what the tests read of workorders export.
type book struct {
	PartOrders []partOrder `json:"part_orders"`
}

type partOrder struct {
	ID         string `json:"id"`
	WorkOrder  string `json:"work_order_id"`
	SKU        string `json:"sku"`
	Quantity   int    `json:"quantity"`
	Total      int    `json:"total_minor"`
	ApprovedBy string `json:"approved_by"`
	Key        string `json:"idempotency_key"`
}

// orderPart is the tool that spends money in these tests.
const orderPart = "work-orders/order_part"

// orderLine asks for one order of 84.90 EUR.
const orderLine = "order a 3 kW heating element for WO-1044"

// ask runs ask --json.
func (s *shell) ask(code int, text ...string) answer {
	s.t.Helper()
	var a answer
	s.decode(&a, code, append([]string{"ask", "--json"}, text...)...)
	return a
}

// orders reads the book's part orders.
func (s *shell) orders() []partOrder {
	s.t.Helper()
	var b book
	s.within().decode(&b, done, "workorders", "export")
	return b.PartOrders
}

// approvals runs approvals --json.
func (s *shell) approvals() []approval {
	s.t.Helper()
	var list []approval
	s.within().decode(&list, done, "approvals", "--json")
	return list
}

// show runs show --json.
func (s *shell) show(id string) conversation {
	s.t.Helper()
	var c conversation
	s.within().decode(&c, done, "show", "--json", id)
	return c
}

// ordersAdded makes sure that the book has n more part orders than before.
func (s *shell) ordersAdded(before []partOrder, n int) []partOrder {
	s.t.Helper()
	now := s.orders()
	if len(now) != len(before)+n {
		s.t.Fatalf("the book has %d part orders, want %d and %d more", len(now), len(before), n)
	}
	return now[len(before):]
}
