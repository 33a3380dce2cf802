//lint:file-ignore SA1019 the conformance suite still covers logging, which is deprecated.

package workorders

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// newFixtures makes the MCP server that the conformance suite expects.
func newFixtures() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "fixtures", Version: "1"}, &mcp.ServerOptions{
		CompletionHandler: func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}, nil
		},
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	addContentFixtures(s)
	addStreamFixtures(s)
	addWaitingFixtures(s)
	addAskingFixtures(s)
	addInputFixtures(s)
	addResourceFixtures(s)
	addPromptFixtures(s)
	return s
}

const description = "A fixture of the conformance suite."

// anyArguments is the schema of fixtures that ignore their arguments.
const anyArguments = `{"type":"object"}`

func addFixture(s *mcp.Server, name, schema string, handle mcp.ToolHandler) {
	s.AddTool(&mcp.Tool{Name: name, Description: description, InputSchema: json.RawMessage(schema)}, handle)
}

// saying is a result of one text block.
func saying(format string, values ...any) *mcp.CallToolResult {
	return showing(&mcp.TextContent{Text: fmt.Sprintf(format, values...)})
}

func showing(content ...mcp.Content) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: content}
}

// The smallest picture and the smallest sound.
var (
	onePixel = decoded("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==")
	silence  = decoded("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=")
)

func decoded(text string) []byte {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return b
}

// addContentFixtures adds tools for each kind of content, and for schemas.
func addContentFixtures(s *mcp.Server) {
	text := &mcp.TextContent{Text: "This is a simple text response for testing."}
	image := &mcp.ImageContent{Data: onePixel, MIMEType: "image/png"}
	sound := &mcp.AudioContent{Data: silence, MIMEType: "audio/wav"}
	embedded := &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "test://embedded-resource", MIMEType: "text/plain", Text: "An embedded resource."}}
	for name, content := range map[string][]mcp.Content{
		"test_simple_text":            {text},
		"test_image_content":          {image},
		"test_audio_content":          {sound},
		"test_embedded_resource":      {embedded},
		"test_multiple_content_types": {text, image, embedded},
		"test_streaming_elicitation":  {text}, // its stream must carry nothing but answers
		"json_schema_2020_12_tool":    {text},
		"test_x_mcp_header":           {text},
	} {
		schema := anyArguments
		switch name {
		case "json_schema_2020_12_tool":
			schema = wideSchema
		case "test_x_mcp_header":
			schema = `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"level":{"type":"integer"}}}`
		}
		addFixture(s, name, schema, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return showing(content...), nil
		})
	}
	addFixture(s, "test_error_handling", anyArguments, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res := saying("This tool always fails.")
		res.IsError = true
		return res, nil
	})
	addFixture(s, "test_missing_capability", anyArguments, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if c := req.ClientCapabilities(); c != nil && c.Sampling != nil {
			return saying("The client has the capability."), nil
		}
		data, err := json.Marshal(mcp.MissingRequiredClientCapabilityData{
			RequiredCapabilities: &mcp.ClientCapabilities{Sampling: &mcp.SamplingCapabilities{}},
		})
		if err != nil {
			return nil, err
		}
		return nil, &jsonrpc.Error{Code: mcp.CodeMissingRequiredClientCapabilities, Message: "this tool needs a client that samples", Data: data}
	})
}

// wideSchema uses what JSON Schema 2020-12 brought; all of it must reach the
// client.
const wideSchema = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type": "object",
	"$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
	"properties": {
		"name": {"type": "string"},
		"address": {"$ref": "#/$defs/address"},
		"contactMethod": {"type": "string", "enum": ["phone", "email"]},
		"phone": {"type": "string"},
		"email": {"type": "string"}
	},
	"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
	"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
	"then": {"required": ["phone"]},
	"else": {"required": ["email"]},
	"additionalProperties": false
}`

// addStreamFixtures adds tools that say something before their answer.
func addStreamFixtures(s *mcp.Server) {
	logging := func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for _, stage := range []string{"started", "half done", "done"} {
			if err := req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: stage}); err != nil {
				return nil, err
			}
		}
		return saying("Logged."), nil
	}
	addFixture(s, "test_tool_with_logging", anyArguments, logging)
	addFixture(s, "test_logging_tool", anyArguments, logging)
	addFixture(s, "test_tool_with_progress", anyArguments, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		token := req.Params.GetProgressToken()
		for _, percent := range []float64{0, 50, 100} {
			if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: percent, Total: 100}); err != nil {
				return nil, err
			}
		}
		return saying("%v", token), nil
	})
	addFixture(s, "test_reconnection", anyArguments, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if req.Extra != nil && req.Extra.CloseSSEStream != nil {
			req.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
		}
		return saying("This came after the client connected again."), nil
	})
	addFixture(s, "test_trigger_tool_change", anyArguments, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		addFixture(s, "test_transient", anyArguments, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return saying("A tool that came later."), nil
		})
		return saying("The tools changed."), nil
	})
	addFixture(s, "test_trigger_prompt_change", anyArguments, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		addPrompt(s, "test_transient", nil, &mcp.TextContent{Text: "A prompt that came later."})
		return saying("The prompts changed."), nil
	})
}

// addWaitingFixtures adds a tool that waits until its call is cancelled, and one
// that tells how many such calls began and how many were cancelled.
func addWaitingFixtures(s *mcp.Server) {
	var began, cancelled atomic.Int64
	addFixture(s, "wait", anyArguments, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		began.Add(1)
		<-ctx.Done()
		cancelled.Add(1)
		return nil, ctx.Err()
	})
	addFixture(s, "waits", anyArguments, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res := saying("How many calls waited.")
		res.StructuredContent = map[string]int64{"began": began.Load(), "cancelled": cancelled.Load()}
		return res, nil
	})
}

func addResourceFixtures(s *mcp.Server) {
	for _, r := range []mcp.ResourceContents{
		{URI: "test://static-text", MIMEType: "text/plain", Text: "The static text."},
		{URI: "test://static-binary", MIMEType: "image/png", Blob: onePixel},
		{URI: "test://watched-resource", MIMEType: "text/plain", Text: "The watched text."},
	} {
		s.AddResource(&mcp.Resource{Name: r.URI, URI: r.URI, MIMEType: r.MIMEType}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&r}}, nil
		})
	}
	template := "test://template/{id}/data"
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: template, URITemplate: template, MIMEType: "application/json"},
		func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, "test://template/"), "/data")
			text, err := json.Marshal(map[string]string{"id": id})
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, MIMEType: "application/json", Text: string(text)}}}, err
		})
}

// addPrompt adds a prompt that shows content, and its arguments as text.
func addPrompt(s *mcp.Server, name string, arguments []*mcp.PromptArgument, content mcp.Content) {
	s.AddPrompt(&mcp.Prompt{Name: name, Description: description, Arguments: arguments}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		messages := []*mcp.PromptMessage{{Role: "user", Content: content}}
		for _, a := range arguments {
			messages = append(messages, &mcp.PromptMessage{Role: "user", Content: &mcp.TextContent{Text: a.Name + "=" + req.Params.Arguments[a.Name]}})
		}
		return &mcp.GetPromptResult{Messages: messages}, nil
	})
}

func addPromptFixtures(s *mcp.Server) {
	text := &mcp.TextContent{Text: "A prompt for testing."}
	addPrompt(s, "test_simple_prompt", nil, text)
	addPrompt(s, "test_prompt_with_image", nil, &mcp.ImageContent{Data: onePixel, MIMEType: "image/png"})
	addPrompt(s, "test_prompt_with_arguments", []*mcp.PromptArgument{{Name: "arg1", Required: true}, {Name: "arg2", Required: true}}, text)
	s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_embedded_resource", Description: description, Arguments: []*mcp.PromptArgument{{Name: "resourceUri", Required: true}}},
		func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.EmbeddedResource{
				Resource: &mcp.ResourceContents{URI: req.Params.Arguments["resourceUri"], MIMEType: "text/plain", Text: "An embedded resource."},
			}}}}, nil
		})
	s.AddPrompt(&mcp.Prompt{Name: "test_input_required_result_prompt", Description: description}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		if given := accepted(req.Params.InputResponses, "user_context"); given != nil {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: fmt.Sprint(given["context"])}}}}, nil
		}
		return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{"user_context": form("context", "string")}}, nil
	})
}
