package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"sync"
	"testing"
	"time"

	"deskhand/agent"
)

// The crowd: so many clients decide so many approvals, each at random, so that
// most are decided by several at once.
const (
	crowdClients   = 200
	crowdApprovals = 1000
	crowdEach      = 12 // decisions of one client
)

// crowd lets everybody decide, and gives what each decision took and who won.
type crowd struct {
	decide func(client int, id agent.ApprovalID, approved bool) (won bool, loserHeard string, err error)

	mu       sync.Mutex
	took     []time.Duration
	approved map[agent.ApprovalID]int
	denied   map[agent.ApprovalID]int
}

func (c *crowd) run(t testing.TB, ids []agent.ApprovalID) {
	t.Helper()
	c.approved, c.denied = map[agent.ApprovalID]int{}, map[agent.ApprovalID]int{}
	told := regexp.MustCompile(`A-\d+ was already (approved|denied|declined) by Dispatch Desk 1`)
	var clients sync.WaitGroup
	for client := range crowdClients {
		clients.Go(func() {
			choose := rand.New(rand.NewPCG(7, uint64(client)))
			for range crowdEach {
				id, approved := ids[choose.IntN(len(ids))], choose.IntN(3) > 0
				began := time.Now()
				won, heard, err := c.decide(client, id, approved)
				took := time.Since(began)
				if err != nil {
					t.Errorf("%s: %v", id, err)
					return
				}
				if !won && !told.MatchString(heard) {
					t.Errorf("a loser was told %q", heard)
				}
				c.mu.Lock()
				c.took = append(c.took, took)
				if won && approved {
					c.approved[id]++
				} else if won {
					c.denied[id]++
				}
				c.mu.Unlock()
			}
		})
	}
	clients.Wait()
}

// check makes sure that each approval has one winner at most, and one order only
// if the winner approved.
func (c *crowd) check(t testing.TB, d *door) {
	t.Helper()
	for id, n := range c.approved {
		if n+c.denied[id] != 1 {
			t.Errorf("%s was decided %d times", id, n+c.denied[id])
		}
	}
	for id, n := range c.denied {
		if n != 1 {
			t.Errorf("%s was denied %d times", id, n)
		}
	}
	if orders := len(d.wo.Orders()); orders != len(c.approved) {
		t.Errorf("%d orders for %d approvals", orders, len(c.approved))
	}
	waiting, err := d.engine.Waiting(context.Background())
	if want := crowdApprovals - len(c.approved) - len(c.denied); err != nil || len(waiting) != want {
		t.Errorf("%d wait, not %d: %v", len(waiting), want, err)
	}
}

// wait brings up n approvals, each in a conversation of its own.
func (d *door) wait(n int) []agent.ApprovalID {
	d.t.Helper()
	ids := make([]agent.ApprovalID, n)
	for i := range ids {
		r, err := d.engine.Send(context.Background(), agent.SendRequest{Text: orderLine})
		if err != nil {
			d.t.Fatal(err)
		}
		ids[i] = r.ApprovalID
	}
	return ids
}

// overHTTP decides as a client does; bare, as the engine's verbs do.
func (d *door) overHTTP(_ int, id agent.ApprovalID, approved bool) (won bool, heard string, err error) {
	body := fmt.Sprintf(`{"approved":%t}`, approved)
	r, err := d.fetch(context.Background(), "POST", "/approvals/"+string(id)+"/decision", body)
	if err != nil {
		return false, "", err
	}
	if r.status == http.StatusOK {
		return true, "", nil
	}
	var failed errorBody
	if r.status != http.StatusConflict || json.Unmarshal([]byte(r.body), &failed) != nil || failed.Error == nil {
		return false, "", fmt.Errorf("%d %s", r.status, r.body)
	}
	return false, failed.Error.Message, nil
}

func TestTwoHundredClientsDecideAThousandApprovalsAtRandom(t *testing.T) {
	d := newDoor(t, func(o *Options) { o.MaxTurns = crowdClients })
	ids := d.wait(crowdApprovals)
	c := crowd{decide: d.overHTTP}
	c.run(t, ids)
	c.check(t, d)
}
