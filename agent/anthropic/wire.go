package anthropic

import (
	"encoding/json"

	"deskhand/agent"
)

// The request, with the members that are used here, in this order.
type request struct {
	Model       string    `json:"model"`
	MaxTokens   int       `json:"max_tokens"`
	System      []block   `json:"system,omitempty"`
	Tools       []tool    `json:"tools,omitempty"`
	Messages    []message `json:"messages"`
	Temperature *float64  `json:"temperature,omitempty"`
	Stream      bool      `json:"stream"`
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// block is a content block of any kind that is sent.
type block struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`
	// ID, Name and Input are those of a tool_use.
	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
	// ToolUseID, Content and IsError are those of a tool_result.
	ToolUseID string `json:"tool_use_id,omitempty"`
	Content   string `json:"content,omitempty"`
	IsError   bool   `json:"is_error,omitempty"`
	Cache     *cache `json:"cache_control,omitempty"`
}

// cache marks what may be kept by the provider, with everything before it.
type cache struct {
	Type string `json:"type"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
	Cache       *cache          `json:"cache_control,omitempty"`
}

// messagesOf writes a request's messages. Neighbours of one role are one
// message: results belong into the user's message behind their calls, before
// whatever the user says next.
func messagesOf(r agent.ModelRequest) []message {
	var out []message
	add := func(role string, b block) {
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Content = append(out[n-1].Content, b)
			return
		}
		out = append(out, message{Role: role, Content: []block{b}})
	}
	for _, m := range r.Messages {
		switch m.Role {
		case agent.RoleUser:
			add("user", block{Type: "text", Text: m.Text})
		case agent.RoleAssistant:
			if m.Text != "" {
				add("assistant", block{Type: "text", Text: m.Text})
			}
			for _, c := range m.Calls {
				add("assistant", block{Type: "tool_use", ID: c.ID, Name: c.Name, Input: c.Arguments})
			}
		case agent.RoleTool:
			add("user", block{Type: "tool_result", ToolUseID: m.CallID, Content: m.ForModel(), IsError: m.Result != nil && m.Result.IsError})
		}
	}
	return out
}

var ephemeral = &cache{Type: "ephemeral"}

func toolsOf(r agent.ModelRequest) []tool {
	var out []tool
	for i, t := range r.Tools {
		schema := t.InputSchema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		one := tool{Name: t.Name, Description: t.Description, InputSchema: schema}
		if i == len(r.Tools)-1 {
			one.Cache = ephemeral
		}
		out = append(out, one)
	}
	return out
}

func systemOf(r agent.ModelRequest) []block {
	if r.System == "" {
		return nil
	}
	return []block{{Type: "text", Text: r.System, Cache: ephemeral}}
}

// event is one event of a stream.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Usage usage `json:"usage"`
	} `json:"message"`
	ContentBlock struct {
		Type  string          `json:"type"`
		Text  string          `json:"text"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	} `json:"content_block"`
	Delta struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Usage usage           `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type usage struct {
	Input      int `json:"input_tokens"`
	Output     int `json:"output_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
}
