// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Outbound
public import StoreWire
import Synchronization

/// The device protocol over HTTP, without cookies, cache or redirects. A proxy
/// is used only for HTTPS to another machine and if the environment names one.
///
/// It uses libcurl and not this platform's URLSession, although that also uses
/// libcurl. URLSession ends the process when a connection is closed in the
/// middle of an answer's head. If a connection is closed before a request with
/// a body, it notices only at the time-out.
public final class HTTPTransport: StoreTransport {
    /// The time-out of a call that the store answers at once.
    static let answerMilliseconds = 30_000
    /// Far more than a receipt with a hundred thousand purchases.
    static let bodyBytesMax = 64 * 1024 * 1024

    private let base: String
    private let isRemote: Bool
    private let answerMilliseconds: Int
    private let client = OutboundClient(policy: .open)
    /// For content, whose bytes are written on the client's thread. Made when there
    /// is some.
    private let contentClient = Mutex<OutboundClient?>(nil)

    /// `storeURL`: the store's URL, with the realm's prefix if there is one.
    public convenience init(storeURL: URL) {
        self.init(storeURL: storeURL, answerMilliseconds: Self.answerMilliseconds)
    }

    init(storeURL: URL, answerMilliseconds: Int) {
        var base = storeURL.absoluteString
        while base.hasSuffix("/") { base.removeLast() }
        self.base = base
        self.answerMilliseconds = answerMilliseconds
        isRemote = !DeviceConfiguration.isLoopback(storeURL)
        LastCalls.watch(client)
    }

    public func send(_ call: DeviceCall) async throws(TransportFailure) -> DeviceReply {
        do throws(OutboundFault) {
            let response = try await client.send(request(for: call))
            return DeviceReply(
                status: response.status, body: response.body, etag: response.headers["etag"])
        } catch {
            // Only a process that exits closes the client. The caller receives
            // no result, as if the process had been killed.
            if error.code == .closed { await Self.never() }
            throw Self.failure(error)
        }
    }

    public func fetch(
        _ fetch: ContentFetch, into sink: any ContentSink
    ) async throws(TransportFailure) -> Int {
        var request = OutboundRequest(
            "GET", Self.server(of: base) + fetch.url,
            headers: [
                OutboundRequest.Header("X-Request-Id", fetch.requestID),
                OutboundRequest.Header("Range", "bytes=\(fetch.from)-"),
                OutboundRequest.Header("If-Range", "\"\(fetch.sha256)\""),
            ])
        request.connectTimeoutMilliseconds = answerMilliseconds
        request.stallSeconds = max(answerMilliseconds / 1000, 1)
        request.usesEnvironmentProxy = isRemote
        let stream = OutboundStream(
            statuses: [200, 206],
            begin: { status, headers in
                guard status == 206 else { return sink.begin(at: 0) }
                return Self.offset(headers["content-range"]).map { sink.begin(at: $0) } ?? false
            }, take: { sink.take($0) })
        do throws(OutboundFault) {
            return try await clientForContent().send(request, into: stream).status
        } catch {
            if error.code == .closed { await Self.never() }
            throw Self.failure(error)
        }
    }

    private func clientForContent() -> OutboundClient {
        contentClient.withLock { client in
            if let client { return client }
            let made = OutboundClient(policy: .open)
            LastCalls.watch(made)
            client = made
            return made
        }
    }

    /// The server's URL: links to content name the realm themselves.
    static func server(of base: String) -> String {
        guard let range = base.range(of: "/realms/", options: .backwards),
            !base[range.upperBound...].contains("/")
        else { return base }
        return String(base[..<range.lowerBound])
    }

    /// The first place of a header `Content-Range`, such as `bytes 10-19/20`.
    static func offset(_ header: String?) -> Int64? {
        guard let header, header.lowercased().hasPrefix("bytes ") else { return nil }
        return header.dropFirst(6).split(separator: "-").first.flatMap { Int64($0) }
    }

    private func request(for call: DeviceCall) -> OutboundRequest {
        var request = OutboundRequest(
            call.route.method, base + call.route.path, headers: headers(of: call),
            body: call.body ?? [])
        request.connectTimeoutMilliseconds = answerMilliseconds
        request.timeoutMilliseconds = answerMilliseconds
        if case .transactions(_, _, let waitSeconds) = call.route {
            request.timeoutMilliseconds += waitSeconds * 1000
        }
        request.bodyBytesMax = Self.bodyBytesMax
        request.usesEnvironmentProxy = isRemote
        return request
    }

    private func headers(of call: DeviceCall) -> [OutboundRequest.Header] {
        var headers = [
            OutboundRequest.Header("X-Request-Id", call.requestID),
            OutboundRequest.Header("Accept", "application/json"),
        ]
        if call.body != nil {
            headers.append(OutboundRequest.Header("Content-Type", "application/json"))
        }
        if let token = call.token {
            headers.append(OutboundRequest.Header("Authorization", "Bearer \(token)"))
        }
        if let etag = call.ifNoneMatch {
            headers.append(OutboundRequest.Header("If-None-Match", etag))
        }
        return headers
    }

    /// Returns `notSent` only if the request was certainly not sent.
    static func failure(_ fault: OutboundFault) -> TransportFailure {
        guard let code = notSent[fault.code], !fault.mayHaveBeenSent else {
            return .unknown(URLError(unknown[fault.code] ?? .unknown))
        }
        return .notSent(URLError(code))
    }

    private static let notSent: [OutboundFault.Code: URLError.Code] = [
        .hostNotFound: .cannotFindHost, .notConnected: .cannotConnectToHost,
        .tls: .secureConnectionFailed, .urlRefused: .badURL,
    ]

    private static let unknown: [OutboundFault.Code: URLError.Code] = [
        .timedOut: .timedOut, .noAnswer: .networkConnectionLost,
        .socket: .networkConnectionLost, .cutShort: .networkConnectionLost,
        .invalidAnswer: .badServerResponse, .answerTooLarge: .dataLengthExceedsMaximum,
        .cancelled: .cancelled, .tls: .secureConnectionFailed,
        .hostNotFound: .cannotFindHost, .notConnected: .cannotConnectToHost,
    ]

    private static func never() async {
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    }
}
