// A program of somebody else: all that it knows of the desk is the client that
// was generated from /openapi.json.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"client/api"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(url string) error {
	ctx := context.Background()
	c, err := api.NewClientWithResponses(url)
	if err != nil {
		return err
	}
	first, err := ask(ctx, c, "order a 3 kW heating element for WO-1044", nil)
	if err != nil {
		return err
	}
	cards, err := c.ListApprovalsWithResponse(ctx)
	if err != nil || cards.JSON200 == nil || len(*cards.JSON200) != 1 || (*cards.JSON200)[0].ApprovalId != first {
		return fmt.Errorf("approvals: %v, %s", err, cards.Body)
	}
	card, err := c.GetApprovalWithResponse(ctx, first)
	if err != nil || card.JSON200 == nil || card.JSON200.Digest == "" {
		return fmt.Errorf("the approval: %v, %s", err, card.Body)
	}
	done, err := c.DecideWithResponse(ctx, first, api.Decision{Approved: pointer(true)})
	if err != nil || done.JSON200 == nil || done.JSON200.Ledger == nil || *done.JSON200.Ledger != "1 order placed: PO-3021, 84.90 EUR." {
		return fmt.Errorf("approving: %v, %s", err, done.Body)
	}
	again, err := c.DecideWithResponse(ctx, first, api.Decision{Approved: pointer(true)})
	if err != nil || again.StatusCode() != http.StatusConflict || again.JSONDefault == nil || again.JSONDefault.Error.Message == "" {
		return fmt.Errorf("approving twice: %v, %s", err, again.Body)
	}
	question, err := say(ctx, c, "order a 3 kW heating element for WO-1044", nil)
	if err != nil || question.ApprovalId != nil {
		return fmt.Errorf("ordering again is a question: %v, %+v", err, question)
	}
	second, err := ask(ctx, c, "1", &question.ConversationId)
	if err != nil {
		return err
	}
	declined, err := c.DecideWithResponse(ctx, second, api.Decision{Approved: pointer(false), Reason: pointer("too dear")})
	if err != nil || declined.JSON200 == nil {
		return fmt.Errorf("declining: %v, %s", err, declined.Body)
	}
	where, err := c.GetConversationWithResponse(ctx, declined.JSON200.ConversationId)
	if err != nil || where.JSON200 == nil || where.JSON200.Status != "completed" {
		return fmt.Errorf("the conversation: %v, %s", err, where.Body)
	}
	ready, err := c.ReadyWithResponse(ctx)
	if err != nil || ready.JSON200 == nil || !ready.JSON200.Ready {
		return fmt.Errorf("readiness: %v, %s", err, ready.Body)
	}
	fmt.Println("openapi: a generated client asked, listed, approved, approved twice, declined")
	return nil
}

// ask sends a message that has to wait for a decision, and gives the approval.
func ask(ctx context.Context, c *api.ClientWithResponses, message string, conversation *string) (string, error) {
	answer, err := say(ctx, c, message, conversation)
	if err != nil || answer.ApprovalId == nil {
		return "", fmt.Errorf("nothing waits after %q: %v, %+v", message, err, answer)
	}
	return *answer.ApprovalId, nil
}

// say sends a message, into a new conversation if none is named.
func say(ctx context.Context, c *api.ClientWithResponses, message string, conversation *string) (*api.Answer, error) {
	var body api.DispatchAgentJSONRequestBody
	body.Data = api.Request{Message: &message, ConversationId: conversation}
	r, err := c.DispatchAgentWithResponse(ctx, nil, body)
	if err != nil {
		return nil, err
	}
	if r.JSON200 == nil {
		return nil, fmt.Errorf("asking: %s", r.Body)
	}
	return &r.JSON200.Result, nil
}

func pointer[T any](v T) *T { return &v }
