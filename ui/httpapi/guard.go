package httpapi

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"deskhand/agent"
)

// Caller is somebody who may ask, known by a token.
type Caller struct {
	User agent.UserID
	// Token is the SHA-256 of the bearer token.
	Token [sha256.Size]byte
}

type callerKey struct{}

// callerOf is the desk user of a request; false if the engine's own acts.
func callerOf(ctx context.Context) (agent.User, bool) {
	user, ok := ctx.Value(callerKey{}).(agent.User)
	return user, ok
}

// authenticated lets those with a token through, in their name. All tokens are
// compared, by their hashes, so that the time tells nothing.
func (s *Server) authenticated(next http.Handler) http.Handler {
	if len(s.options.Callers) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(strings.TrimSpace(token)))
		var found *Caller
		for i := range s.options.Callers {
			c := &s.options.Callers[i]
			if subtle.ConstantTimeCompare(got[:], c.Token[:]) == 1 {
				found = c
			}
		}
		if found == nil || !strings.EqualFold(scheme, "Bearer") {
			s.refuse(w, r, &problem{Status: statusUnknownToken, Message: "the bearer token is missing or wrong; make one with: deskhand token new USER"})
			return
		}
		user := agent.User{ID: found.User}
		if s.options.User != nil {
			var ok bool
			if user, ok = s.options.User(found.User); !ok {
				s.refuse(w, r, &problem{Status: statusForbidden, Message: "the token is that of the desk user " + string(found.User) + ", whom the company does not know"})
				return
			}
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, user)))
	})
}

// guarded refuses what a web page of another origin sends, what arrives under a
// foreign name (which was made to point here), and bodies that are too large.
func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.options.Local && !loopback(r.Host) {
			s.refuse(w, r, &problem{Status: statusForbidden, Message: "requests under a foreign host name are refused"})
			return
		}
		// Programs send no Origin.
		for _, origin := range r.Header.Values("Origin") {
			if !strings.EqualFold(origin, "http://"+r.Host) {
				s.refuse(w, r, &problem{Status: statusForbidden, Message: "requests from other origins are refused"})
				return
			}
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r)
	})
}

func (s *Server) refuse(w http.ResponseWriter, r *http.Request, p *problem) {
	s.log.Warn("a request was refused", "from", r.RemoteAddr, "method", r.Method, "path", r.URL.Path, "because", p.Message)
	writeError(w, p)
}

// loopback says whether a host, with or without port, names this machine's
// loopback.
func loopback(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	ip, err := netip.ParseAddr(name)
	return strings.EqualFold(name, "localhost") || err == nil && ip.IsLoopback()
}
