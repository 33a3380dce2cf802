package workorders

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

type techniciansInput struct {
	Name   string `json:"name,omitempty" jsonschema:"technician id, name or part of a name"`
	Skill  string `json:"skill,omitempty" jsonschema:"only people with this skill, for example hvac, lift, refrigerant, water_heater"`
	Region string `json:"region,omitempty" jsonschema:"only people who work in this region, for example harbour, oldtown, airport"`
	On     string `json:"on,omitempty" jsonschema:"a day like 2026-12-02: adds shift and time off of that day, and skills are checked for it"`
	Limit  int    `json:"limit,omitempty" jsonschema:"items on a page, 1 to 50"`
	Cursor string `json:"cursor,omitempty" jsonschema:"next_cursor of the page before"`
}

type techniciansOutput struct {
	Items      []technicianItem `json:"items"`
	Total      int              `json:"total"`
	NextCursor string           `json:"next_cursor,omitempty"`
}

type technicianItem struct {
	ID      string      `json:"id"`
	Name    string      `json:"name"`
	Active  bool        `json:"active" jsonschema:"false: on long leave or left, cannot be booked"`
	Skills  []skillInfo `json:"skills"`
	Regions []string    `json:"regions"`
	ShiftOn *windowInfo `json:"shift_on,omitempty" jsonschema:"from the first to the last hour of work or on-call on the day asked for"`
	OffOn   *offInfo    `json:"off_on,omitempty" jsonschema:"time off on the day asked for"`
}

type skillInfo struct {
	ID         string `json:"id"`
	ValidUntil string `json:"valid_until,omitempty" jsonschema:"last day of the certificate"`
	Expired    bool   `json:"expired" jsonschema:"on the day asked for, else today"`
}

type offInfo struct {
	Start      Moment `json:"start"`
	End        Moment `json:"end"`
	ReasonText string `json:"reason_text"`
	Untrusted  bool   `json:"untrusted"`
}

func listTechniciansTool() tool {
	return tool{
		name:  "list_technicians",
		title: "List technicians",
		description: "Technicians with their skills, certificates and regions, by name, skill or region; with a day also when they work and whether they are off. " +
			"For who is free, use find_availability; for what somebody does, get_schedule.",
		hints: reading,
		input: input[techniciansInput](map[string]schemaEdit{
			"name": texts(1, 100), "skill": texts(1, 40), "region": texts(1, 40), "on": dates, "limit": limited, "cursor": texts(1, 200),
		}),
		output: schemaOf[techniciansOutput](),
		handle: read(listTechnicians),
	}
}

func listTechnicians(v view, in techniciansInput) (techniciansOutput, string, error) {
	day := v.now
	if in.On != "" {
		var err error
		if day, err = time.ParseInLocation(time.DateOnly, in.On, v.zone); err != nil {
			return techniciansOutput{}, "", refuse("invalid_arguments", "on", "on must be a day like 2026-12-02.")
		}
	}
	found, err := v.technicianFilter(in)
	if err != nil {
		return techniciansOutput{}, "", err
	}
	limit, cursor := in.Limit, in.Cursor
	in.Limit, in.Cursor = 0, ""
	shown, next, err := page(found, limit, cursor, in)
	if err != nil {
		return techniciansOutput{}, "", err
	}
	out := techniciansOutput{Items: []technicianItem{}, Total: len(found), NextCursor: next}
	text := pageText(len(shown), len(found), "technician")
	for _, t := range shown {
		item := v.technicianItem(t, day, in.On != "")
		out.Items = append(out.Items, item)
		text += "\n" + item.text()
	}
	return out, text, nil
}

// technicianFilter refuses what names nothing, instead of listing all. Several
// people of one name are an answer here, and no refusal.
func (v view) technicianFilter(in techniciansInput) ([]*Technician, error) {
	found := slices.Collect(v.technicians.all())
	if in.Name != "" {
		found = byName(v.technicians, in.Name, func(t *Technician) []string { return []string{t.Name} })
		if t, err := v.technician(in.Name, nil); err == nil {
			found = []*Technician{t}
		} else if len(found) == 0 {
			r := refusalOf(err)
			r.Field = "name"
			return nil, r
		}
	}
	if in.Skill != "" {
		if !slices.ContainsFunc(v.skills, func(n Named) bool { return n.ID == in.Skill }) {
			return nil, refuse("invalid_arguments", "skill", "There is no skill %q.", in.Skill).detail("allowed", idsOf(v.skills))
		}
		found = slices.DeleteFunc(found, func(t *Technician) bool { return len(fittingSkills(t, []string{in.Skill})) == 0 })
	}
	if in.Region != "" {
		region, err := v.region(in.Region)
		if err != nil {
			return nil, err
		}
		found = slices.DeleteFunc(found, func(t *Technician) bool { return !slices.Contains(t.Regions, region) })
	}
	return found, nil
}

func (v view) technicianItem(t *Technician, day time.Time, dayAsked bool) technicianItem {
	item := technicianItem{ID: t.ID, Name: t.Name, Active: t.Active, Skills: []skillInfo{}, Regions: append([]string{}, t.Regions...)}
	for _, s := range t.Skills {
		_, expired := v.lacking(t, []string{s.ID}, day)
		item.Skills = append(item.Skills, skillInfo{ID: s.ID, ValidUntil: s.ValidUntil, Expired: expired != ""})
	}
	if !dayAsked {
		return item
	}
	start := midnight(day.In(v.zone))
	end := nextDay(start)
	if work := v.workTime(t, start, end); len(work) > 0 {
		item.ShiftOn = &windowInfo{Start: moment(work[0].start, v.zone), End: moment(work[len(work)-1].end, v.zone)}
	}
	if off := offDuring(t, start, end); len(off) > 0 {
		item.OffOn = ptr(v.offInfo(off[0]))
	}
	return item
}

func (v view) offInfo(p Period) offInfo {
	return offInfo{Start: moment(p.Start.Time, v.zone), End: moment(p.End.Time, v.zone), ReasonText: p.Reason, Untrusted: true}
}

func (i technicianItem) text() string {
	var skills []string
	for _, s := range i.Skills {
		switch {
		case s.Expired:
			skills = append(skills, s.ID+" (expired "+s.ValidUntil+")")
		case s.ValidUntil != "":
			skills = append(skills, s.ID+" (until "+s.ValidUntil+")")
		default:
			skills = append(skills, s.ID)
		}
	}
	text := fmt.Sprintf("%s %s: %s; works in %s", i.ID, i.Name, strings.Join(skills, ", "), strings.Join(i.Regions, ", "))
	if !i.Active {
		text += "; not active"
	}
	if i.ShiftOn != nil {
		text += "; works " + i.ShiftOn.Start.Local + " to " + i.ShiftOn.End.Local
	}
	if i.OffOn != nil {
		text += "; off " + i.OffOn.Start.Local + " to " + i.OffOn.End.Local
	}
	return text
}
