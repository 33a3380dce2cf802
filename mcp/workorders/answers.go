package workorders

import (
	"fmt"
	"strings"
	"time"
)

// The types below are shared by the answers of several tools.

// A Moment is an instant as an answer shows it: exact, for people, and with
// the zone in which Local is meant.
type Moment struct {
	At    string `json:"at" jsonschema:"the instant, RFC 3339 with the offset of the zone"`
	Local string `json:"local" jsonschema:"the same for people, for example Wed 2 Dec 10:00"`
	TZ    string `json:"tz" jsonschema:"IANA time zone of local"`
}

// localLayout is how people read a time; the year is left out on purpose, as
// bookings reach 90 days ahead.
const localLayout = "Mon 2 Jan 15:04"

func moment(t time.Time, zone *time.Location) Moment {
	t = t.In(zone)
	return Moment{At: t.Format(stampLayout), Local: t.Format(localLayout), TZ: zone.String()}
}

func momentOf(s *Stamp, zone *time.Location) *Moment {
	if s == nil {
		return nil
	}
	m := moment(s.Time, zone)
	return &m
}

// span prints start and end for people, with the day once.
func span(start, end time.Time, zone *time.Location) string {
	s, e := start.In(zone), end.In(zone)
	if s.YearDay() == e.YearDay() && s.Year() == e.Year() {
		return s.Format(localLayout) + "-" + e.Format("15:04")
	}
	return s.Format(localLayout) + " - " + e.Format(localLayout)
}

// Money is an amount in minor units (cents, pence) of its currency, without tax.
type Money struct {
	Minor    int64  `json:"minor" jsonschema:"amount in minor units, 8490 is 84.90"`
	Currency string `json:"currency" jsonschema:"ISO 4217 code"`
}

// String is the amount for people: "84.90 EUR".
func (m Money) String() string {
	sign, minor := "", m.Minor
	if minor < 0 {
		sign, minor = "-", -minor
	}
	return fmt.Sprintf("%s%d.%02d %s", sign, minor/100, minor%100, m.Currency)
}

// A Warning is something to know that does not stop the call.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message" jsonschema:"one sentence for people"`
}

// A Person is a technician in an answer.
type Person struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func personOf(t *Technician) Person { return Person{ID: t.ID, Name: t.Name} }

// A SiteRef is enough of a site to find it.
type SiteRef struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Address string `json:"address"`
}

func siteRef(s *Site) SiteRef { return SiteRef{ID: s.ID, Name: s.Name, Address: s.Address} }

// A Ref is an id with its name.
type Ref struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// A JobRef is a job in a list.
type JobRef struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// list joins names for a sentence: "a", "a and b", "a, b and c".
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// plural is "1 job" or "3 jobs".
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
