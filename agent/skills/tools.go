package skills

import (
	"context"
	"encoding/json"
	"fmt"

	"deskhand/agent"
)

// The tools' own names. Nothing else in the package spells them.
const (
	ListTool = "list_skill_files"
	ReadTool = "read_skill_file"
)

// skillFile is the file that makes a folder a skill.
const skillFile = "SKILL.md"

// tool is one tool: what it is called, what it says of itself, what it does.
type tool struct {
	name, title, description string
	input, output            string
	run                      func(ctx context.Context, f *folder, arguments json.RawMessage) (answer, error)
}

// tools are all there are, in the order of their names.
var tools = [...]tool{
	{
		name:  ListTool,
		title: "List skills",
		description: "Lists the skills: written instructions for particular kinds of work, each with its description and its files. " +
			"Look here when a request may be covered by one; then read its " + skillFile + " with " + ReadTool + ". " +
			"A skill with a problem is listed with what is wrong.",
		input:  listInput,
		output: listOutput,
		run:    list,
	},
	{
		name:  ReadTool,
		title: "Read a file of a skill",
		description: "Reads a text file of a skill, " + skillFile + " unless another is named. " +
			"The names come from " + ListTool + ". " +
			"A long file comes in parts: go on with the offset that the answer names.",
		input:  readInput,
		output: readOutput,
		run:    read,
	},
}

// readOnly are the annotations of both tools. They are hints; what runs unasked
// is for the desk's policy to say.
const readOnly = `{"idempotentHint":true,"openWorldHint":false,"readOnlyHint":true}`

func toolNamed(name string) (tool, bool) {
	for _, t := range tools {
		if t.name == name {
			return t, true
		}
	}
	return tool{}, false
}

func (t tool) definition() agent.Tool {
	return agent.Tool{
		Name: t.name, Title: t.title, Description: t.description,
		InputSchema: json.RawMessage(t.input), OutputSchema: json.RawMessage(t.output),
		Annotations: json.RawMessage(readOnly),
	}
}

// The schemas are written out, because an approval is bound to their bytes.
const listInput = `{"type":"object","properties":{` +
	`"skill":{"type":"string","description":"Only this skill, with all its files."}` +
	`},"additionalProperties":false}`

const listOutput = `{"type":"object","properties":{` +
	`"skills":{"type":"array","items":{"type":"object","properties":{` +
	`"skill":{"type":"string","description":"What the skill is called in arguments: the name of its folder."},` +
	`"name":{"type":"string","description":"The name in its front matter."},` +
	`"description":{"type":"string"},` +
	`"problem":{"type":"string","description":"What is wrong with the skill; absent if nothing is."},` +
	`"files":{"type":"array","items":{"type":"object","properties":{` +
	`"file":{"type":"string"},"size":{"type":"integer","description":"In bytes."}},"required":["file","size"]}},` +
	`"left_out":{"type":"array","items":{"type":"object","properties":{` +
	`"file":{"type":"string"},"why":{"type":"string"}},"required":["file","why"]}},` +
	`"more_files":{"type":"boolean","description":"There are files that are not listed here."}` +
	`},"required":["skill","files"]}},` +
	`"more_skills":{"type":"integer","description":"How many skills are not listed here."}` +
	`},"required":["skills"]}`

var readInput = fmt.Sprintf(`{"type":"object","properties":{`+
	`"skill":{"type":"string","description":"The skill's name."},`+
	`"file":{"type":"string","default":"%s","description":"The file's path below the skill's folder."},`+
	`"offset":{"type":"integer","minimum":0,"default":0,"description":"How many characters to leave out at the start."},`+
	`"limit":{"type":"integer","minimum":1,"maximum":%d,"default":%d,"description":"How many characters to read at most."}`+
	`},"required":["skill"],"additionalProperties":false}`, skillFile, maxRead, maxRead)

const readOutput = `{"type":"object","description":"The text itself stands in the first content block.","properties":{` +
	`"skill":{"type":"string"},"file":{"type":"string"},` +
	`"size":{"type":"integer","description":"Of the whole file, in bytes."},` +
	`"offset":{"type":"integer"},"characters":{"type":"integer","description":"Of this part."},` +
	`"total":{"type":"integer","description":"Characters of the whole file."},` +
	`"next_offset":{"type":"integer","description":"Where the rest begins; absent at the end."}` +
	`},"required":["skill","file","size","offset","characters","total"]}`
