package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"deskhand/agent"
)

// described are the types that clients see. Their schemas come from the Go
// types, so that a field which changes changes everywhere.
var described = []struct {
	name string
	typ  reflect.Type
}{
	{"Request", reflect.TypeFor[Request]()},
	{"Answer", reflect.TypeFor[Answer]()},
	{"DispatchAnswer", reflect.TypeFor[agent.DispatchAnswer]()},
	{"Event", reflect.TypeFor[Event]()},
	{"Error", reflect.TypeFor[problem]()},
	{"Card", reflect.TypeFor[Card]()},
	{"Decision", reflect.TypeFor[Decision]()},
	{"Report", reflect.TypeFor[agent.Report]()},
	{"Readiness", reflect.TypeFor[Readiness]()},
}

// documents are the descriptions of this surface, made once.
var documents = sync.OnceValues(func() (docs struct{ schema, openapi []byte }, err error) {
	schemas := map[string]*jsonschema.Schema{}
	for _, d := range described {
		s, err := jsonschema.ForType(d.typ, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
			reflect.TypeFor[json.RawMessage](): {Description: "Any JSON."}, // an empty schema is written as true, which generators do not know
		}})
		if err != nil {
			return docs, fmt.Errorf("describing %s: %w", d.name, err)
		}
		schemas[d.name] = s
	}
	docs.schema, err = json.MarshalIndent(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "The types of the desk over HTTP",
		"$defs":   schemas,
	}, "", "  ")
	if err != nil {
		return docs, err
	}
	docs.openapi, err = json.MarshalIndent(openapi(schemas), "", "  ")
	return docs, err
})

func (s *Server) schema(w http.ResponseWriter, r *http.Request) {
	docs, err := documents()
	s.document(w, r, docs.schema, err)
}

func (s *Server) openapi(w http.ResponseWriter, r *http.Request) {
	docs, err := documents()
	s.document(w, r, docs.openapi, err)
}

func (s *Server) document(w http.ResponseWriter, r *http.Request, text []byte, err error) {
	if err != nil {
		s.failed(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(text) // a client that has gone away misses it
}

// object is JSON that is written by hand.
type object = map[string]any

// openapi describes the paths; see https://spec.openapis.org/oas/v3.1.0.
func openapi(schemas map[string]*jsonschema.Schema) object {
	ref := func(name string) object { return object{"$ref": "#/components/schemas/" + name} }
	wrapped := func(member, name string) object {
		return object{"type": "object", "required": []string{member}, "properties": object{member: ref(name)}}
	}
	content := func(schema object) object { return object{"application/json": object{"schema": schema}} }
	answers := func(what string, schema object) object {
		return object{
			"200":     object{"description": what, "content": content(schema)},
			"default": object{"description": "What is wrong, and what to do.", "content": content(wrapped("error", "Error"))},
		}
	}
	takes := func(schema object) object { return object{"required": true, "content": content(schema)} }
	id := func(what string) []object {
		return []object{{"name": "id", "in": "path", "required": true, "description": what, "schema": object{"type": "string"}}}
	}
	token := []object{{"token": []string{}}, {}}

	dispatch := answers("The answer; with an approvalId, a decision waits.", wrapped("result", "Answer"))
	dispatch["200"].(object)["content"].(object)["text/event-stream"] = object{"schema": object{
		"type":        "string",
		"description": `Events "data: {…}": {"message": Event} as things happen, then one {"result": Answer} or {"error": Error}.`,
	}}
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Deskhand", "version": "1",
			"description": "A dispatcher's desk: ask, and decide what spends money. The id of an approval stands for what was shown.",
		},
		"paths": object{
			"/dispatchAgent": object{"post": object{
				"operationId": "dispatchAgent", "security": token,
				"summary": "Ask something, or decide an approval, in the form of a Genkit flow.",
				"parameters": []object{{
					"name": "Idempotency-Key", "in": "header", "schema": object{"type": "string", "maxLength": maxKey},
					"description": "A message with the same key is sent once; asking again gives the same turn.",
				}},
				"requestBody": takes(wrapped("data", "Request")), "responses": dispatch,
			}},
			"/approvals": object{"get": object{
				"operationId": "listApprovals", "security": token, "summary": "What waits for a person, the oldest first.",
				"responses": answers("The cards.", object{"type": "array", "items": ref("Card")}),
			}},
			"/approvals/{id}": object{"get": object{
				"operationId": "getApproval", "security": token, "summary": "One approval with everything that its card shows.",
				"parameters": id("The approval, e.g. A-17."), "responses": answers("The card.", ref("Card")),
			}},
			"/approvals/{id}/decision": object{"post": object{
				"operationId": "decide", "security": token, "summary": "Approve or decline; the turn goes on.",
				"parameters": id("The approval, e.g. A-17."), "requestBody": takes(ref("Decision")),
				"responses": answers("The turn's answer.", ref("Answer")),
			}},
			"/conversations/{id}": object{"get": object{
				"operationId": "getConversation", "security": token, "summary": "Where a conversation's newest turn stands.",
				"parameters": id("The conversation."), "responses": answers("The turn.", ref("Report")),
			}},
			"/metrics": object{"get": object{
				"operationId": "metrics", "security": token, "summary": "Numbers in Prometheus' text form.",
				"responses": object{"200": object{"description": "The numbers.", "content": object{"text/plain": object{"schema": object{"type": "string"}}}}},
			}},
			"/healthz": object{"get": object{
				"operationId": "health", "summary": "Whether the process is alive.",
				"responses": answers("It is.", object{"type": "object"}),
			}},
			"/readyz": object{"get": object{
				"operationId": "ready", "summary": "Whether a message would be answered now; 503 if not.",
				"responses": answers("How the parts are.", ref("Readiness")),
			}},
		},
		"components": object{
			"schemas":         schemas,
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}},
		},
	}
}
