// SPDX-License-Identifier: Apache-2.0

import StoreWire
import WireErrors

extension ErrorWords {
    func described(_ mistake: RequestMistake) -> WireError {
        switch mistake {
        case .unknownPath:
            WireError(
                code: "unknownPath", message: "There is nothing at this address.", field: "path",
                rule: addresses, remedy: "check the \(subject)'s URL")
        case .addressInvalid: Self.addressInvalid
        case .wrongMethod(let allowed):
            WireError(
                code: "wrongMethod", message: "This address does not allow this method.",
                field: "method", rule: allowed.joined(separator: " or "),
                remedy: "use one of them")
        case .methodUnknown, .codingUnknown, .notHTTP: Self.ofHTTP(mistake)
        case .queryInvalid(let field, let rule, let remedy):
            WireError(
                code: "queryInvalid", message: "A parameter of the query is invalid.",
                field: field, rule: rule, remedy: remedy)
        case .bodyTooLarge, .bodyTimedOut, .bodyCutShort, .contentTypeWrong: Self.ofBody(mistake)
        case .timedOut:
            WireError(
                code: "timedOut", message: "The answer took too long and was given up.",
                rule: "what was written before stays written", remedy: remedy)
        case .notReady(let reason):
            WireError(code: "notReady", message: reason, remedy: "ask again in a moment")
        case .hostInvalid, .hostUnknown, .forwardedInvalid, .originForeign: ofSite(mistake)
        case .notThroughProxy:
            WireError(
                code: "notThroughProxy",
                message: "This \(subject) must be called over HTTPS, through its proxy.",
                field: "connection",
                rule: "from a proxy named with --behind-proxy, with X-Forwarded-For and "
                    + "X-Forwarded-Proto `https`",
                remedy: "ask the \(subject)'s public address; its operator checks the proxy's "
                    + "headers")
        case .tooManyWaiting:
            WireError(
                code: "tooManyWaiting", message: "Too many requests are waiting already.",
                rule: "at most as many as the server has room for", remedy: "ask again later")
        case .tooManyWaitingHere:
            WireError(
                code: "tooManyWaitingHere",
                message: "Too many requests of this customer or address are waiting already.",
                rule: "an eighth of the places at most", remedy: "ask again later")
        case .clientGone:
            WireError(code: "clientGone", message: "The client has gone.")
        case .turnedAway(_, let error): error
        }
    }

    private static let addressInvalid = WireError(
        code: "addressInvalid", message: "The address does not encode text.", field: "address",
        rule: "%xx encodes UTF-8 without a zero byte", remedy: "encode the address again")

    private func ofSite(_ mistake: RequestMistake) -> WireError {
        switch mistake {
        case .hostInvalid:
            WireError(
                code: "hostInvalid",
                message: "The request names no host, more than one, or one that cannot be.",
                field: "Host", rule: "one Host line: a name or an address, and a port to 65535",
                remedy: "send one")
        case .hostUnknown:
            WireError(
                code: "hostUnknown",
                message: "The \(subject) does not answer under this host name.", field: "Host",
                rule: "localhost, 127.0.0.1, ::1, or a name that its operator configured",
                remedy: "use the \(subject)'s own address; its operator adds a name with "
                    + "--public-url")
        case .forwardedInvalid(let field):
            WireError(
                code: "forwardedInvalid", message: "The proxy's header makes no sense.",
                field: field,
                rule: "X-Forwarded-For ends with the client's address; X-Forwarded-Proto and "
                    + "X-Forwarded-Host come once, with one value",
                remedy: "have the proxy set these headers, and not add to those of a client")
        default:
            WireError(
                code: "originForeign", message: "Another site's page sent this request.",
                field: "Origin", rule: "no Origin, or the address that is asked",
                remedy: "send the request from a program or a server")
        }
    }

    private static func ofHTTP(_ mistake: RequestMistake) -> WireError {
        switch mistake {
        case .methodUnknown:
            WireError(
                code: "methodUnknown", message: "The server does not know this method.",
                field: "method", rule: "GET, POST, PUT, PATCH or DELETE, in capitals",
                remedy: "use the method that the address allows")
        case .codingUnknown:
            WireError(
                code: "codingUnknown",
                message: "The server does not decode this transfer coding.",
                field: "Transfer-Encoding", rule: "`chunked`, or none",
                remedy: "send the body without compression")
        default:
            WireError(
                code: "notHTTP", message: "The request is not HTTP/1.1.",
                rule: "a request line, headers of at most 80 KiB, and a body as long as they say",
                remedy: "send the request again with an HTTP library")
        }
    }

    private static func ofBody(_ mistake: RequestMistake) -> WireError {
        switch mistake {
        case .bodyTooLarge(let bytesMax):
            WireError(
                code: "bodyTooLarge", message: "The body is too large.", field: "body",
                rule: "at most \(bytesMax) bytes", remedy: "ask in several requests")
        case .contentTypeWrong:
            WireError(
                code: "contentTypeWrong", message: "The body is not declared as JSON.",
                field: "Content-Type", rule: "`application/json`",
                remedy: "send the header `Content-Type: application/json`")
        case .bodyTimedOut:
            WireError(
                code: "bodyTimedOut", message: "The body did not arrive in time.",
                field: "body", rule: "the whole body follows its head at once",
                remedy: "send the request again")
        default:
            WireError(
                code: "bodyCutShort", message: "The body ended early or is not HTTP.",
                field: "body", rule: "as many bytes as Content-Length announces",
                remedy: "send the request again")
        }
    }
}
