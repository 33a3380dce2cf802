package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"deskhand/agent"
	"deskhand/mcp/client"
)

// company is what a server says about the company that it works for: the
// resource deskhand://company.
type company struct {
	Name     string       `json:"name"`
	Demo     bool         `json:"demo"`
	TimeZone string       `json:"timezone"`
	Now      time.Time    `json:"now"`
	Clock    string       `json:"clock"`
	Users    []agent.User `json:"users"`
	BookID   string       `json:"book_id"`
	// Offset is what the company's clock is ahead of this machine's.
	Offset time.Duration `json:"offset"`
}

// companyURI is the resource that describes the company.
const companyURI = "deskhand://company"

// companySetting keeps the last known company in the desk, so that decisions
// have a name and a time also when the server is down.
const companySetting = "company"

// clockDrift is how far the company's clock may be off the stored one before
// it is stored anew: the seconds that a connect takes are no change.
const clockDrift = 5 * time.Second

// companyView holds the newest company and gives the desk's time and user.
type companyView struct {
	fixed time.Time // --clock; zero if the clock runs
	user  agent.UserID

	mu      sync.Mutex
	company company
	known   bool
}

func (v *companyView) get() (company, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.company, v.known
}

func (v *companyView) set(c company) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.company, v.known = c, true
}

// now is the desk's date and time, in the company's zone.
func (v *companyView) now() time.Time {
	c, known := v.get()
	zone := time.Local
	if known {
		if z, err := time.LoadLocation(c.TimeZone); err == nil {
			zone = z
		}
	}
	switch {
	case !v.fixed.IsZero():
		if !known {
			return v.fixed
		}
		return v.fixed.In(zone)
	case known && c.Clock == "fixed":
		return c.Now.In(zone)
	case known && c.Clock == "demo":
		return time.Now().Add(c.Offset).In(zone).Round(0)
	}
	return time.Now().In(zone).Round(0)
}

// current is the desk user in whose name the desk acts: the one that was named,
// else the first of the book.
func (v *companyView) current() agent.User {
	c, _ := v.get()
	for _, u := range c.Users {
		if u.ID == v.user || v.user == "" {
			return u
		}
	}
	return agent.User{ID: v.user}
}

// check makes sure that the named user is one of the company's.
func (v *companyView) check() error {
	c, met := v.get()
	if v.user == "" || !met || len(c.Users) == 0 {
		return nil
	}
	var known []string
	for _, u := range c.Users {
		if u.ID == v.user {
			return nil
		}
		known = append(known, fmt.Sprintf("%s (%s)", u.ID, u.Name))
	}
	return &usageError{fmt.Errorf("there is no desk user %q; the users are %s", v.user, strings.Join(known, ", "))}
}

// loadCompany reads the last known company from the desk.
func (d *desk) loadCompany(ctx context.Context) error {
	var c company
	err := d.store.Setting(ctx, companySetting, &c)
	if errors.Is(err, agent.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading what is known of the company: %w", err)
	}
	d.company.set(c)
	return nil
}

// askCompany asks the servers about the company, all at once; the first in
// order that knows counts, and work-orders comes before all others. A desk whose
// servers know nothing of it works with the machine's clock.
func (d *desk) askCompany(ctx context.Context) error {
	type answer struct {
		company company
		err     error
	}
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	asked := slices.Clone(d.servers)
	if i := slices.IndexFunc(asked, func(s *client.Server) bool { return s.Name() == workOrders }); i > 0 {
		asked = slices.Concat(asked[i:i+1], asked[:i], asked[i+1:])
	}
	answers := make([]chan answer, len(asked))
	for i, s := range asked {
		answers[i] = make(chan answer, 1)
		go func() {
			c, err := readCompany(ctx, s)
			answers[i] <- answer{c, err}
		}()
	}
	var failures []error
	for i := range answers {
		a := <-answers[i]
		if a.err == nil {
			return errors.Join(d.keepCompany(ctx, a.company), d.company.check())
		}
		if !client.Answered(a.err) {
			failures = append(failures, a.err)
		}
	}
	return errors.Join(failures...)
}

func readCompany(ctx context.Context, s *client.Server) (company, error) {
	var c company
	text, _, err := s.ReadResource(ctx, companyURI)
	if err != nil {
		return c, fmt.Errorf("the server %s cannot be asked about the company: %w", s.Name(), err)
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, fmt.Errorf("what %s says of the company cannot be read: %w", s.Name(), err)
	}
	// The resource gives whole seconds, so the clock behind it is up to a second
	// ahead; a desk that starts at 09:00 must not begin at 08:59.
	c.Offset = time.Until(c.Now).Round(time.Second) + time.Second
	return c, nil
}

// keepCompany stores a company that differs from the stored one.
func (d *desk) keepCompany(ctx context.Context, c company) error {
	old, known := d.company.get()
	d.company.set(c)
	drift := (c.Offset - old.Offset).Abs()
	if c.Clock != "demo" {
		drift = 0
	}
	same := known && old.Name == c.Name && old.Demo == c.Demo && old.TimeZone == c.TimeZone && old.Clock == c.Clock &&
		old.BookID == c.BookID && drift < clockDrift && slices.EqualFunc(old.Users, c.Users, sameUser)
	if same {
		d.company.set(old) // the stored offset counts, so that time never jumps
		return nil
	}
	err := d.store.Update(ctx, func(tx agent.Tx) error { return tx.PutSetting(companySetting, c) })
	if err != nil {
		return fmt.Errorf("keeping what is known of the company: %w", err)
	}
	return nil
}

func sameUser(a, b agent.User) bool {
	limits := a.Limit == b.Limit || a.Limit != nil && b.Limit != nil && *a.Limit == *b.Limit
	return a.ID == b.ID && a.Name == b.Name && a.Role == b.Role && limits
}
