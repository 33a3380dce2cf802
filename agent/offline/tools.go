package offline

import (
	"encoding/json"
	"slices"
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
)

// writes are the tools that change something.
var writes = []string{toolSchedule, toolOrder}

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

// choices are the values that a tool's schema allows for an argument, or for
// the items of a list argument: the model's only knowledge of regions and
// skills.
func (s toolset) choices(tool, argument string) []string {
	alias, ok := s.alias(tool)
	if !ok {
		return nil
	}
	i := slices.IndexFunc(s, func(t agent.ModelTool) bool { return t.Name == alias })
	var schema struct {
		Properties map[string]struct {
			Enum  []string `json:"enum"`
			Items struct {
				Enum []string `json:"enum"`
			} `json:"items"`
		} `json:"properties"`
	}
	if json.Unmarshal(s[i].InputSchema, &schema) != nil {
		// A schema that reads only in part still gives what could be read.
		return append(schema.Properties[argument].Enum, schema.Properties[argument].Items.Enum...)
	}
	p := schema.Properties[argument]
	return append(slices.Clone(p.Enum), p.Items.Enum...)
}
