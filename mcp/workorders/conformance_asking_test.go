//lint:file-ignore SA1019 the conformance suite still covers sampling and roots, which are deprecated.

package workorders

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addAskingFixtures adds tools that ask the client while they run, as servers
// could before 2026-07-28.
func addAskingFixtures(s *mcp.Server) {
	addFixture(s, "test_sampling", `{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]}`,
		func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var in struct{ Prompt string }
			if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
				return nil, err
			}
			res, err := req.Session.CreateMessage(ctx, sample(in.Prompt))
			if err != nil {
				return nil, err
			}
			text, _ := res.Content.(*mcp.TextContent)
			return saying("LLM response: %s", text.Text), nil
		})
	ask := func(name, schema, properties string) {
		addFixture(s, name, schema, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			in := struct{ Message string }{"A form for testing"}
			if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
				return nil, err
			}
			res, err := req.Session.Elicit(ctx, &mcp.ElicitParams{
				Message: in.Message, RequestedSchema: json.RawMessage(`{"type":"object","properties":` + properties + `}`),
			})
			if err != nil {
				return nil, err
			}
			return saying("Elicitation result: action=%s, content=%v", res.Action, res.Content), nil
		})
	}
	ask("test_elicitation", `{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`,
		`{"username":{"type":"string"},"email":{"type":"string"}}`)
	ask("test_elicitation_sep1034_defaults", anyArguments, `{
		"name": {"type": "string", "default": "John Doe"},
		"age": {"type": "integer", "default": 30},
		"score": {"type": "number", "default": 95.5},
		"status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
		"verified": {"type": "boolean", "default": true}}`)
	ask("test_elicitation_sep1330_enums", anyArguments, `{
		"untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
		"titledSingle": {"type": "string", "oneOf": [{"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"}]},
		"legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["One", "Two"]},
		"untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
		"titledMulti": {"type": "array", "items": {"anyOf": [{"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"}]}}}`)
}

// addInputFixtures adds tools that answer with questions, as servers do since
// 2026-07-28.
func addInputFixtures(s *mcp.Server) {
	add := func(name string, handle func(p *mcp.CallToolParamsRaw, c *mcp.ClientCapabilities) (*mcp.CallToolResult, error)) {
		addFixture(s, "test_input_required_result_"+name, anyArguments, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return handle(req.Params, req.ClientCapabilities())
		})
	}
	add("elicitation", func(p *mcp.CallToolParamsRaw, _ *mcp.ClientCapabilities) (*mcp.CallToolResult, error) {
		if name := accepted(p.InputResponses, "user_name")["name"]; name != nil && name != "" {
			return saying("Hello, %v!", name), nil
		}
		return asking("", mcp.InputRequestMap{"user_name": form("name", "string")}), nil
	})
	add("sampling", func(p *mcp.CallToolParamsRaw, _ *mcp.ClientCapabilities) (*mcp.CallToolResult, error) {
		if text, ok := sampled(p.InputResponses, "capital_question"); ok {
			return saying("The model says: %s", text), nil
		}
		return asking("", mcp.InputRequestMap{"capital_question": sample("What is the capital of France?")}), nil
	})
	add("list_roots", func(p *mcp.CallToolParamsRaw, _ *mcp.ClientCapabilities) (*mcp.CallToolResult, error) {
		if roots, ok := p.InputResponses["client_roots"].(*mcp.ListRootsResult); ok {
			return saying("The client has %d roots.", len(roots.Roots)), nil
		}
		return asking("", mcp.InputRequestMap{"client_roots": &mcp.ListRootsParams{}}), nil
	})
	confirm := func(p *mcp.CallToolParamsRaw, _ *mcp.ClientCapabilities) (*mcp.CallToolResult, error) {
		if p.RequestState != "" {
			if _, err := opened(p.RequestState); err != nil {
				return nil, err
			}
			if accepted(p.InputResponses, "confirm") != nil {
				return saying("state-ok"), nil
			}
		}
		return asking("waits for a confirmation", mcp.InputRequestMap{"confirm": form("ok", "boolean")}), nil
	}
	add("request_state", confirm)
	add("tampered_state", confirm)
	add("multiple_inputs", func(p *mcp.CallToolParamsRaw, _ *mcp.ClientCapabilities) (*mcp.CallToolResult, error) {
		name := accepted(p.InputResponses, "user_name")["name"]
		greeting, greeted := sampled(p.InputResponses, "greeting")
		roots, rooted := p.InputResponses["client_roots"].(*mcp.ListRootsResult)
		if name != nil && greeted && rooted {
			return saying("%s %v, you have %d roots.", greeting, name, len(roots.Roots)), nil
		}
		return asking("waits for three answers", mcp.InputRequestMap{
			"user_name": form("name", "string"), "greeting": sample("Write a greeting."), "client_roots": &mcp.ListRootsParams{},
		}), nil
	})
	add("multi_round", func(p *mcp.CallToolParamsRaw, _ *mcp.ClientCapabilities) (*mcp.CallToolResult, error) {
		if p.RequestState == "" {
			return asking("first", mcp.InputRequestMap{"step1": form("name", "string")}), nil
		}
		state, err := opened(p.RequestState)
		if err != nil {
			return nil, err
		}
		if state == "first" {
			return asking(fmt.Sprint(accepted(p.InputResponses, "step1")["name"]), mcp.InputRequestMap{"step2": form("color", "string")}), nil
		}
		return saying("%s likes %v.", state, accepted(p.InputResponses, "step2")["color"]), nil
	})
	add("capabilities", func(p *mcp.CallToolParamsRaw, c *mcp.ClientCapabilities) (*mcp.CallToolResult, error) {
		questions := mcp.InputRequestMap{}
		if c != nil && c.Elicitation != nil {
			questions["user_name"] = form("name", "string")
		}
		if c != nil && c.Sampling != nil {
			questions["greeting"] = sample("Write a greeting.")
		}
		if len(p.InputResponses) > 0 || len(questions) == 0 {
			return saying("There is nothing to ask."), nil
		}
		return asking("", questions), nil
	})
}

// asking is a result that asks, with a signed state.
func asking(state string, questions mcp.InputRequestMap) *mcp.CallToolResult {
	if state != "" {
		state += "." + signature(state)
	}
	return &mcp.CallToolResult{InputRequests: questions, RequestState: state}
}

// opened is the state that asking signed.
func opened(signed string) (string, error) {
	at := strings.LastIndexByte(signed, '.')
	if at < 0 || !hmac.Equal([]byte(signed[at+1:]), []byte(signature(signed[:at]))) {
		return "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the request state is not this server's"}
	}
	return signed[:at], nil
}

func signature(state string) string {
	mac := hmac.New(sha256.New, []byte("fixtures"))
	mac.Write([]byte(state))
	return hex.EncodeToString(mac.Sum(nil))
}

// form asks for one field.
func form(field, kind string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Message: "Please fill in: " + field, RequestedSchema: map[string]any{
		"type": "object", "properties": map[string]any{field: map[string]any{"type": kind}}, "required": []string{field},
	}}
}

// accepted is what a person filled in, or nil.
func accepted(given mcp.InputResponseMap, id string) map[string]any {
	if res, ok := given[id].(*mcp.ElicitResult); ok && res.Action == "accept" {
		return res.Content
	}
	return nil
}

// sample asks the client's model.
func sample(prompt string) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{
		Messages:  []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: prompt}}},
		MaxTokens: 100,
	}
}

// sampled is what the client's model said.
func sampled(given mcp.InputResponseMap, id string) (string, bool) {
	res, ok := given[id].(*mcp.CreateMessageWithToolsResult)
	if !ok {
		return "", false
	}
	for _, c := range res.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			return text.Text, true
		}
	}
	return "", true
}
