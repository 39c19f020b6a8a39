// SPDX-License-Identifier: Apache-2.0

import Foundation

@_implementationOnly import CCurl

/// One running call.
///
/// `@unchecked`: the caller creates it and hands it to the loop once. From then
/// on only the loop's thread uses it.
final class Transfer: @unchecked Sendable {
    typealias Outcome = Result<OutboundResponse, OutboundFault>

    /// How much of a stream is received at once.
    private static let streamBufferBytes = 256 * 1024
    /// The most bytes in an answer's head. A longer one is a fault.
    private static let headBytesMax = 64 * 1024

    let number: UInt64
    private let url: CheckedURL
    private let request: OutboundRequest
    private let policy: AddressPolicy
    private let roots: [UInt8]?
    private let stream: OutboundStream?
    private var continuation: CheckedContinuation<Outcome, Never>?

    private var easy: UnsafeMutableRawPointer?
    private var headers: UnsafeMutablePointer<curl_slist>?
    private var sent: UnsafeMutablePointer<UInt8>?
    private var head: [String: String] = [:]
    private var headBytes = 0
    private var isHeadWhole = false
    private var body: [UInt8] = []
    private var isTooLarge = false
    private var isHeadTooLong = false
    private var isStreaming = false
    private var isStopped = false
    private var metRefusedAddress = false

    init(
        number: UInt64, url: CheckedURL, _ request: OutboundRequest, _ policy: AddressPolicy,
        roots: [UInt8]?, stream: OutboundStream?,
        continuation: CheckedContinuation<Outcome, Never>
    ) {
        self.number = number
        self.url = url
        self.request = request
        self.policy = policy
        self.roots = roots
        self.stream = stream
        self.continuation = continuation
    }

    deinit {
        if let easy { curl_easy_cleanup(easy) }
        curl_slist_free_all(headers)
        sent?.deallocate()
    }

    func has(_ handle: UnsafeMutableRawPointer) -> Bool { easy == handle }

    /// Returns the handle with all options set. Nil if curl rejects one of
    /// them.
    func prepare() -> UnsafeMutableRawPointer? {
        guard let easy = curl_easy_init() else { return nil }
        self.easy = easy
        return set(easy) && setBody(easy) && setHeaders(easy) && setCallbacks(easy) ? easy : nil
    }

    private func set(_ easy: UnsafeMutableRawPointer) -> Bool {
        var numbers: [(CURLoption, Int)] = [
            (CURLOPT_NOSIGNAL, 1), (CURLOPT_FOLLOWLOCATION, 0),
            (CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)),
            (CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
            (CURLOPT_SSL_VERIFYPEER, 1), (CURLOPT_SSL_VERIFYHOST, 2),
            (CURLOPT_CONNECTTIMEOUT_MS, max(request.connectTimeoutMilliseconds, 1)),
            (
                CURLOPT_TIMEOUT_MS,
                request.stallSeconds == nil ? max(request.timeoutMilliseconds, 1) : 0
            ),
            (CURLOPT_LOW_SPEED_LIMIT, request.stallSeconds == nil ? 0 : 100),
            (CURLOPT_LOW_SPEED_TIME, request.stallSeconds ?? 0),
        ]
        if stream != nil { numbers.append((CURLOPT_BUFFERSIZE, Self.streamBufferBytes)) }
        guard numbers.allSatisfy({ ccurl_set_long(easy, $0, $1) == CURLE_OK }) else {
            return false
        }
        let mayUseProxy = request.usesEnvironmentProxy && url.isEncrypted
        // An empty proxy means none, whatever the environment contains.
        guard mayUseProxy || ccurl_set_text(easy, CURLOPT_PROXY, "") == CURLE_OK,
            ccurl_set_text(easy, CURLOPT_URL, url.text) == CURLE_OK,
            ccurl_set_text(easy, CURLOPT_CUSTOMREQUEST, request.method) == CURLE_OK,
            ccurl_set_web_only(easy) == CURLE_OK, ccurl_set_quick_exit(easy) == CURLE_OK
        else { return false }
        guard var roots else { return true }
        return ccurl_set_roots(easy, &roots, roots.count) == CURLE_OK
    }

    /// Sets the body. curl does not copy it, so its address must not change.
    private func setBody(_ easy: UnsafeMutableRawPointer) -> Bool {
        if request.method == "HEAD" { return ccurl_set_long(easy, CURLOPT_NOBODY, 1) == CURLE_OK }
        guard !request.body.isEmpty || request.method != "GET" else { return true }
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: max(request.body.count, 1))
        bytes.initialize(from: request.body, count: request.body.count)
        sent = bytes
        return ccurl_set_long(easy, CURLOPT_POSTFIELDSIZE, request.body.count) == CURLE_OK
            && ccurl_set_pointer(easy, CURLOPT_POSTFIELDS, bytes) == CURLE_OK
    }

    private func setHeaders(_ easy: UnsafeMutableRawPointer) -> Bool {
        // Without `Expect`, curl does not wait for permission to send a body.
        var lines = ["Expect:", "User-Agent: shopkeeper"]
        lines += request.headers.map { "\($0.name): \($0.value)" }
        for line in lines {
            guard let longer = curl_slist_append(headers, line) else { return false }
            headers = longer
        }
        return ccurl_set_headers(easy, headers) == CURLE_OK
    }

    private func setCallbacks(_ easy: UnsafeMutableRawPointer) -> Bool {
        // The loop keeps the transfer as long as curl may call back.
        let context = Unmanaged.passUnretained(self).toOpaque()
        return ccurl_set_writer(easy, CURLOPT_WRITEFUNCTION, writeBody) == CURLE_OK
            && ccurl_set_pointer(easy, CURLOPT_WRITEDATA, context) == CURLE_OK
            && ccurl_set_writer(easy, CURLOPT_HEADERFUNCTION, writeHead) == CURLE_OK
            && ccurl_set_pointer(easy, CURLOPT_HEADERDATA, context) == CURLE_OK
            && ccurl_set_opener(easy, openSocket) == CURLE_OK
            && ccurl_set_pointer(easy, CURLOPT_OPENSOCKETDATA, context) == CURLE_OK
    }

    /// Called by curl. Returning false ends the transfer.
    fileprivate func take(body bytes: UnsafeRawBufferPointer) -> Bool {
        if let stream, stream.statuses.contains(status) {
            isStopped = !(begin(stream) && stream.take(bytes))
            return !isStopped
        }
        guard body.count + bytes.count <= request.bodyBytesMax else {
            isTooLarge = true
            return false
        }
        body.append(contentsOf: bytes)
        return true
    }

    private func begin(_ stream: OutboundStream) -> Bool {
        if isStreaming { return true }
        isStreaming = true
        return stream.begin(status, head)
    }

    fileprivate func take(head bytes: UnsafeRawBufferPointer) -> Bool {
        headBytes += bytes.count
        guard headBytes <= Self.headBytesMax else {
            (isTooLarge, isHeadTooLong) = (true, true)
            return false
        }
        let line = String(decoding: bytes, as: UTF8.self)
        // A status line: of the final answer or of an interim one.
        if line.hasPrefix("HTTP/") { head = [:] }
        isHeadWhole = line == "\r\n" || line == "\n"
        guard let colon = line.firstIndex(of: ":") else { return true }
        head[line[..<colon].lowercased()] = line[line.index(after: colon)...]
            .trimmingCharacters(in: .whitespacesAndNewlines)
        return true
    }

    /// The last check of the destination: curl connects only to this address.
    fileprivate func open(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        guard let ip = IPAddress(address), policy.allows(ip) else {
            metRefusedAddress = true
            return -1
        }
        let wanted = address.pointee
        return socket(
            wanted.family, wanted.socktype | Int32(SOCK_CLOEXEC.rawValue), wanted.protocol)
    }

    /// Ends the call with curl's result.
    func finish(_ code: CURLcode, leaving multi: UnsafeMutableRawPointer) {
        guard code != CURLE_OK else {
            // curl does not report an error if a connection is closed in the
            // middle of the head.
            guard isHeadWhole else {
                return fail(fault(.cutShort, "the head is not whole"), leaving: multi)
            }
            let response = OutboundResponse(status: status, headers: head, body: body)
            return end(.success(response), leaving: multi)
        }
        let reason = String(cString: curl_easy_strerror(code))
        if isStopped { return fail(fault(.cancelled, "the stream ended it"), leaving: multi) }
        let isForeign = code == CURLE_RECV_ERROR && isHeadWhole && !isConnectionBroken
        // Nothing of ours asks for another protocol.
        let isSwitched = code == CURLE_GOT_NOTHING && status == 101
        let meaning =
            isForeign || isSwitched
            ? .invalidAnswer : Self.meaning(code, metRefusedAddress, isTooLarge)
        fail(fault(meaning, reason), leaving: multi)
    }

    /// Whether the socket itself failed. curl reports bytes that are no chunk of a body
    /// under the same name.
    private var isConnectionBroken: Bool {
        var number = 0
        if let easy { ccurl_get_long(easy, CURLINFO_OS_ERRNO, &number) }
        return Self.brokenConnections.contains(Int32(truncatingIfNeeded: number))
    }

    private static let brokenConnections: Set<Int32> = [
        ECONNABORTED, ECONNRESET, EHOSTUNREACH, ENETDOWN, ENETRESET, ENETUNREACH, ENOTCONN, EPIPE,
        ETIMEDOUT,
    ]

    /// Makes a fault that includes how far the call had come. A head that is given up has
    /// not answered.
    func fault(_ code: OutboundFault.Code, _ reason: String) -> OutboundFault {
        var sentBytes = 0
        if let easy { ccurl_get_long(easy, CURLINFO_REQUEST_SIZE, &sentBytes) }
        return OutboundFault(
            code, reason, status: status == 0 || isHeadTooLong ? nil : status,
            mayHaveBeenSent: sentBytes > 0)
    }

    func fail(_ fault: OutboundFault, leaving multi: UnsafeMutableRawPointer? = nil) {
        end(.failure(fault), leaving: multi)
    }

    private var status: Int {
        var status = 0
        if let easy { ccurl_get_long(easy, CURLINFO_RESPONSE_CODE, &status) }
        return status
    }

    private func end(_ outcome: Outcome, leaving multi: UnsafeMutableRawPointer?) {
        if let multi, let easy { curl_multi_remove_handle(multi, easy) }
        continuation?.resume(returning: outcome)
        continuation = nil
    }

    private static func meaning(
        _ code: CURLcode, _ metRefusedAddress: Bool, _ isTooLarge: Bool
    ) -> OutboundFault.Code {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST: .hostNotFound
        case CURLE_COULDNT_CONNECT: metRefusedAddress ? .addressRefused : .notConnected
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_GOT_NOTHING: .noAnswer
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR: .socket
        // curl reports the first one for bytes that do not begin an answer.
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY: .invalidAnswer
        case CURLE_PARTIAL_FILE: .cutShort
        case CURLE_WRITE_ERROR where isTooLarge: .answerTooLarge
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_INVALIDCERTSTATUS:
            .tls
        default: .other
        }
    }
}

extension IPAddress {
    /// Nil for address families without a policy. The bytes are read at curl's
    /// address, because an IPv6 address is longer than its C type.
    fileprivate init?(_ address: UnsafeMutablePointer<curl_sockaddr>) {
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return nil }
        let raw = UnsafeRawPointer(address) + offset
        let size = Int(address.pointee.addrlen)
        switch address.pointee.family {
        case AF_INET where size >= MemoryLayout<sockaddr_in>.size:
            let found = raw.loadUnaligned(as: sockaddr_in.self).sin_addr
            self.init(v4: withUnsafeBytes(of: found) { Array($0) })
        case AF_INET6 where size >= MemoryLayout<sockaddr_in6>.size:
            let found = raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            self.init(v6: withUnsafeBytes(of: found) { Array($0) })
        default: return nil
        }
    }
}

private func writeBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context else { return 0 }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    let buffer = UnsafeRawBufferPointer(start: bytes, count: size * count)
    // curl stops if the returned number differs from the received one. One less
    // does so for zero bytes too.
    return transfer.take(body: buffer) ? buffer.count : buffer.count - 1
}

private func writeHead(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context else { return 0 }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    let buffer = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return transfer.take(head: buffer) ? buffer.count : buffer.count - 1
}

private func openSocket(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype,
    _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let context, let address else { return -1 }
    return Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue().open(address)
}
