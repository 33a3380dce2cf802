package offline

import (
	"strings"

	"deskhand/agent"
)

// The tools that the flows know, by their bare names.
const (
	toolLookup       = "lookup_work_order"
	toolSearchJobs   = "search_work_orders"
	toolAvailability = "find_availability"
	toolSchedule     = "schedule_visit"
	toolSearchParts  = "search_parts"
	toolQuote        = "quote_part"
	toolOrder        = "order_part"
	toolPartOrders   = "list_part_orders"
	toolAgenda       = "get_schedule"
	toolMove         = "reschedule_visit"
	toolCancelVisit  = "cancel_visit"
	toolCancelOrder  = "cancel_part_order"
	toolNote         = "add_note"
	toolTechnicians  = "list_technicians"
)

// writes are the tools that change something.
var writes = []string{toolSchedule, toolOrder, toolMove, toolCancelVisit, toolCancelOrder, toolNote}

// toolset is what one request offers.
type toolset []agent.ModelTool

// alias is the name under which the request offers a tool: its own, or a long
// form that ends in it where two servers have one of that name.
func (s toolset) alias(tool string) (string, bool) {
	long := ""
	for _, t := range s {
		if t.Name == tool {
			return t.Name, true
		}
		if long == "" && strings.HasSuffix(t.Name, "__"+tool) {
			long = t.Name
		}
	}
	return long, long != ""
}

// bareName undoes alias.
func bareName(alias string) string {
	if i := strings.LastIndex(alias, "__"); i >= 0 {
		return alias[i+2:]
	}
	return alias
}
