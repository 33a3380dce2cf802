package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// failure is an error in words for people; the cause is for errors.Is.
type failure struct {
	text  string
	cause error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.cause }

// Answered says of an error of a read that the server itself gave it: it is
// there, and has no such thing.
func Answered(err error) bool {
	var reply *replyError
	return errors.As(err, &reply)
}

// maxWords bounds what of a server's own text enters an error, in runes.
const maxWords = 300

// plain makes one line of a server's text: no control characters, no runs of
// spaces, not too long.
func plain(text string) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.In(r, unicode.Cf)
	}), " ")
	if runes := []rune(text); len(runes) > maxWords {
		text = string(runes[:maxWords]) + "…"
	}
	return text
}

// explain says why something failed: from the status that the server gave, or
// from the error of the network, and else from the SDK's.
func explain(at string, authorized bool, status int, network, err error) error {
	if network != nil {
		return explainNetwork(at, network)
	}
	say := func(format string, args ...any) error {
		return &failure{fmt.Sprintf(format, args...), err}
	}
	if text := refusal(at, authorized, status); text != "" {
		return say("%s", text)
	}
	var rpc *jsonrpc.Error
	switch {
	case errors.As(err, &rpc) && !ofSDK(rpc.Code):
		return say("the server refused to start a session: %s (%d)", plain(rpc.Message), rpc.Code)
	case status >= 500:
		return say("the server answers %d %s; look at its log", status, http.StatusText(status))
	case status >= 300:
		return say("%s answers %d %s, which is no answer of an MCP server; check the address", at, status, http.StatusText(status))
	case strings.Contains(err.Error(), "unsupported protocol version"):
		return say("the server speaks a revision of the protocol that this program does not know")
	case status != 0:
		return say("%s answers, but not like an MCP server; check the address", at)
	}
	return explainNetwork(at, err)
}

// ofSDK says which codes the SDK gives its own errors; it reports a closed
// connection as if a server had answered.
func ofSDK(code int64) bool { return code <= -32001 && code >= -32005 }

// refusal is what a status means that says that nothing was run; empty for
// other statuses.
func refusal(at string, authorized bool, status int) string {
	switch status {
	case http.StatusUnauthorized:
		if authorized {
			return "the server refused the token; get a new one and correct the configuration"
		}
		return "the server wants a token and none is configured"
	case http.StatusForbidden:
		if authorized {
			return "the server refused the token for this (403)"
		}
		return "the server refused this program (403); it may want a token"
	case http.StatusNotFound:
		return "there is no MCP server at " + at + " (404); check the path"
	case http.StatusMethodNotAllowed:
		return at + " takes no calls (405); check the path"
	case http.StatusRequestEntityTooLarge:
		return "the call is larger than the server takes (413)"
	case http.StatusUnsupportedMediaType:
		return at + " does not take MCP requests (415); check the path"
	}
	return ""
}

// explainNetwork says what an error of the network means.
func explainNetwork(at string, err error) error {
	// The outer text repeats the address with its query, which may be secret.
	var wrapped *url.Error
	for errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	say := func(format string, args ...any) error {
		return &failure{fmt.Sprintf(format, args...), err}
	}
	var (
		dns     *net.DNSError
		cert    *tls.CertificateVerificationError
		record  tls.RecordHeaderError
		timeout net.Error
	)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return say("nothing listens at %s; start the server or correct its address", at)
	case errors.As(err, &dns):
		return say("the host %s is not known; correct the address or check the network", dns.Name)
	case errors.As(err, &cert):
		return say("the certificate of %s is not trusted: %v", at, cert.Err)
	case errors.As(err, &record), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return say("%s does not speak TLS; it may be an http:// address", at)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return say("%s did not answer in time", at)
	case errors.Is(err, context.Canceled), errors.Is(err, errGivenUp), errors.Is(err, errSealed):
		return say("given up")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, syscall.EPIPE), errors.Is(err, net.ErrClosed):
		return say("the connection to %s broke", at)
	}
	return say("%s", plain(err.Error()))
}
