package console

import (
	"fmt"
	"time"
)

// deskClock writes the desk's times for people.
type deskClock struct {
	// today is the desk's date when the item was drawn; only its day and zone
	// count, so that what is drawn can be kept for a day.
	today time.Time
}

func clockAt(now time.Time) deskClock {
	y, m, d := now.Date()
	return deskClock{today: time.Date(y, m, d, 0, 0, 0, 0, now.Location())}
}

// at writes a time: "09:04", and with its day if that is not today.
func (c deskClock) at(t time.Time) string {
	t = t.In(c.today.Location())
	y, m, d := t.Date()
	ty, tm, td := c.today.Date()
	if y == ty && m == tm && d == td {
		return t.Format("15:04")
	}
	if y == ty {
		return t.Format("Mon 2 Jan 15:04")
	}
	return t.Format("Mon 2 Jan 2006 15:04")
}

// age writes how long something has waited.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
