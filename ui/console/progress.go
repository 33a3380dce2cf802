package console

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"deskhand/agent"
)

// barWidth is how wide the bar of a call is that says how much there is to do.
const barWidth = 20

// progressLine draws what a running call says of itself: a bar where it knows
// how much there is to do, else a count. It is empty as long as it says nothing.
func progressLine(p agent.Progress, width int) string {
	if p == (agent.Progress{}) {
		return ""
	}
	text := safeLine(p.Message, prose)
	done := count(p.Done)
	if p.Total > 0 && !math.IsInf(p.Total, 0) && p.Done >= 0 && !math.IsNaN(p.Done) {
		part := min(1, p.Done/p.Total)
		full := int(part * barWidth)
		bar := "[" + strings.Repeat("#", full) + strings.Repeat(".", barWidth-full) + "]"
		return fit(joinParts([]string{fmt.Sprintf("%s %d %%", bar, int(part*100)), done + " of " + count(p.Total), text}), width)
	}
	return fit(joinParts([]string{done + " so far", text}), width)
}

// count writes a number as people do: without a fraction where there is none.
func count(n float64) string { return strconv.FormatFloat(math.Round(n*100)/100, 'f', -1, 64) }

// advance puts the newest word of the running calls on their lines.
func (v *conversation) advance(progress map[agent.CallID]agent.Progress) {
	was := v.running
	if v.running = len(progress) > 0; !v.running && !was {
		return
	}
	for _, e := range v.entries {
		for _, c := range e.cells {
			switch i := c.item.(type) {
			case callItem:
				if now := progress[i.call.ID]; now != i.progress {
					i.progress = now
					c.item, c.width = i, 0
				}
			case settledItem:
				if now := progress[i.call.ID]; now != i.progress {
					i.progress = now
					c.item, c.width = i, 0
				}
			}
		}
	}
}
