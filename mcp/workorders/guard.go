package workorders

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
)

// guardToken lets only requests with the bearer token through. Hashes are
// compared, so that neither content nor length of the token shows in the time
// that the answer takes. An empty token lets nothing through.
func guardToken(token string, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(strings.TrimSpace(given)))
		if token == "" || !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="work-orders"`)
			http.Error(w, "the bearer token is missing or wrong", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// guardOrigin refuses requests that a web page of another origin makes, for
// every method. Programs send no Origin and pass.
func guardOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origins := r.Header.Values("Origin")
		if len(origins) > 1 || len(origins) == 1 && !strings.EqualFold(origins[0], "http://"+r.Host) {
			http.Error(w, "requests from other origins are refused", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// guardHost refuses requests under a name that is not this machine's loopback:
// such a name was made to point here (DNS rebinding), and would make a foreign
// Origin look like the server's own. Where other machines may connect, they do
// so under an address or this machine's own name.
func guardHost(otherMachines bool, next http.Handler) http.Handler {
	own, _ := os.Hostname() // without one, the address has to do
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = strings.Trim(r.Host, "[]")
		}
		ip, err := netip.ParseAddr(host)
		allowed := strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
		if otherMachines {
			allowed = allowed || err == nil || own != "" && strings.EqualFold(host, own)
		}
		if !allowed {
			http.Error(w, "requests under a foreign host name are refused", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
