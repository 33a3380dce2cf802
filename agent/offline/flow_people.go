package offline

import (
	"strings"
)

// technician is a person in the list of technicians.
type technician struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Active bool   `json:"active"`
	Skills []struct {
		ID         string `json:"id"`
		ValidUntil string `json:"valid_until"`
		Expired    bool   `json:"expired"`
	} `json:"skills"`
	Regions []string `json:"regions"`
	Off     *struct {
		Start  *moment `json:"start"`
		End    *moment `json:"end"`
		Reason string  `json:"reason_text"`
	} `json:"off_on"`
	Shift *struct {
		Start *moment `json:"start"`
		End   *moment `json:"end"`
	} `json:"shift_on"`
}

// runPeople answers who there is and what they may do.
func runPeople(t *turn, r *request) answer {
	if len(r.when.days) > 0 {
		return t.askDay(r)
	}
	a := args{"limit": 50}
	if words := without(r.words, peopleWords...); len(words) > 0 {
		a["name"] = joinWords(words)
	}
	if r.technician != "" {
		a["name"] = r.technician
	}
	if r.when.dayKnown() {
		a["on"] = r.when.day.Format("2006-01-02")
	}
	got, done := t.call(toolTechnicians, a)
	if !done {
		return waits
	}
	var list struct {
		Items []technician `json:"items"`
		Total int          `json:"total"`
	}
	got.read(&list)
	if name, named := a["name"].(string); named && (!got.ok() || len(list.Items) == 0) {
		if got, done = t.peopleWith(strings.Fields(name), a); !done {
			return waits
		}
		got.read(&list)
		if !got.ok() || len(list.Items) == 0 {
			return say("I know no technician and no skill called "+quoted(name, 60)+".", knownSkills(got.fault), nearPeople(got.fault))
		}
	}
	if !got.ok() {
		return say(t.trouble(got, ""))
	}
	if len(list.Items) == 1 {
		t.memory.person = person{ID: list.Items[0].ID, Name: list.Items[0].Name}
	}
	var out []string
	if len(list.Items) != 1 {
		out = append(out, count(max(list.Total, len(list.Items)), "technician")+":")
	}
	for _, p := range list.Items {
		out = append(out, personLine(p))
	}
	if len(list.Items) == 0 {
		out = []string{"There is nobody."}
	}
	return say(out...)
}

// peopleWith lists who has the skill that the words are: "who has the lift
// certificate", "who has a gas ticket". What skills there are, the server says.
func (t *turn) peopleWith(words []string, a args) (outcome, bool) {
	bySkill := func(skill string) args {
		out := args{"limit": 50, "skill": skill}
		if on, ok := a["on"]; ok {
			out["on"] = on
		}
		return out
	}
	got, done := t.call(toolTechnicians, bySkill(skillID(words)))
	if !done || got.ok() || got.fault.Field != "skill" {
		return got, done
	}
	if known := skillsNamed(got.fault.list("allowed"), words); len(known) == 1 {
		return t.call(toolTechnicians, bySkill(known[0]))
	}
	return got, true
}

// peopleWords belong to the question and name nobody.
var peopleWords = []string{
	"skill", "skills", "qualified", "qualification", "qualifications", "certificate", "certificates", "cert", "certs", "licence", "license", "technician", "technicians",
	"tech", "techs", "team", "off", "holiday", "leave", "sick", "working", "shift", "shifts", "able", "allowed", "valid", "ticket", "tickets", "certified", "call",
}

func personLine(p technician) string {
	line := clean(p.Name, 60) + " (" + clean(p.ID, 20) + ")"
	if !p.Active {
		line += ", not active"
	}
	var skills []string
	for _, s := range p.Skills {
		word := strings.ReplaceAll(clean(s.ID, 40), "_", " ")
		switch {
		case s.Expired:
			word += " (EXPIRED " + clean(s.ValidUntil, 20) + ")"
		case s.ValidUntil != "":
			word += " (until " + clean(s.ValidUntil, 20) + ")"
		}
		skills = append(skills, word)
	}
	line += orEmpty(": ", strings.Join(skills, ", "), len(skills) > 0)
	var regions []string
	for _, region := range p.Regions {
		regions = append(regions, clean(region, 40))
	}
	line += orEmpty("; works in ", joined(regions, "and"), len(regions) > 0)
	if p.Shift != nil {
		line += "; shift " + span(p.Shift.Start, p.Shift.End)
	}
	if p.Off != nil {
		line += "; off " + span(p.Off.Start, p.Off.End) + orEmpty(", ", quoted(p.Off.Reason, 80), p.Off.Reason != "")
	}
	return line + "."
}
