package client

import (
	"encoding/json"
	"errors"
	"fmt"

	"deskhand/agent"
)

// decodeResult takes the result of tools/call apart without changing a byte of
// its parts. What is no result of a tool is an error, never an empty success.
func decodeResult(raw json.RawMessage) (agent.Result, error) {
	m, ok := members(raw)
	if !ok || !json.Valid(raw) {
		return agent.Result{}, errors.New("the server's answer holds no result")
	}
	if kind := m["resultType"]; !isNull(kind) {
		var name string
		if json.Unmarshal(kind, &name) != nil || name != "complete" {
			return agent.Result{}, fmt.Errorf("the server's answer is of a kind that is not supported: %s", plain(string(kind)))
		}
	}
	var r agent.Result
	if flag := m["isError"]; !isNull(flag) {
		if err := json.Unmarshal(flag, &r.IsError); err != nil {
			return agent.Result{}, errors.New("the server's answer cannot be read: isError is not true or false")
		}
	}
	content := m["content"]
	if content == nil && m["structuredContent"] == nil && !r.IsError {
		return agent.Result{}, errors.New("the server's answer holds no result")
	}
	if !isNull(content) {
		if r.Content, ok = elements(content); !ok {
			return agent.Result{}, errors.New("the server's answer cannot be read: its content is no list")
		}
	}
	if r.Content == nil {
		r.Content = []json.RawMessage{}
	}
	r.Structured = m["structuredContent"]
	r.Meta = m["_meta"]
	return r, nil
}
