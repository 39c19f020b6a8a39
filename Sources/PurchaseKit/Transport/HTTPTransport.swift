// SPDX-License-Identifier: Apache-2.0

public import Foundation
import StoreWire

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The device protocol over HTTP, through URLSession. No cookies, no cache.
public struct HTTPTransport: StoreTransport {
    /// How long a call that the store answers at once may stay silent.
    static let silenceMaxSeconds = 30.0

    private let storeURL: URL
    private let session: URLSession

    /// `storeURL`: the store's, with the realm's prefix where it has one.
    public init(storeURL: URL) {
        self.storeURL = storeURL
        let configuration = URLSessionConfiguration.ephemeral
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        session = URLSession(configuration: configuration)
    }

    public func send(_ call: DeviceCall) async throws(TransportFailure) -> DeviceReply {
        let request = try request(for: call)
        let result = await load(request)
        switch result {
        case .success(let (data, response)):
            return DeviceReply(
                status: response.statusCode, body: Array(data),
                etag: response.value(forHTTPHeaderField: "ETag"))
        case .failure(let error):
            throw Self.failure(error)
        }
    }

    private func request(for call: DeviceCall) throws(TransportFailure) -> URLRequest {
        var base = storeURL.absoluteString
        while base.hasSuffix("/") { base.removeLast() }
        guard let url = URL(string: base + call.route.path) else {
            throw .notSent(URLError(.badURL))
        }
        var request = URLRequest(url: url)
        request.httpMethod = call.route.method
        request.timeoutInterval = Self.silenceMaxSeconds
        if case .transactions(_, let waitSeconds) = call.route {
            request.timeoutInterval += Double(waitSeconds)
        }
        request.setValue(call.requestID, forHTTPHeaderField: "X-Request-Id")
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        if let body = call.body {
            request.httpBody = Data(body)
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        if let token = call.token {
            request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        }
        if let etag = call.ifNoneMatch {
            request.setValue(etag, forHTTPHeaderField: "If-None-Match")
        }
        return request
    }

    private func load(_ request: URLRequest) async -> Result<(Data, HTTPURLResponse), any Error> {
        let flight = Flight()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let task = session.dataTask(with: request) { data, response, error in
                    if let response = response as? HTTPURLResponse, error == nil {
                        continuation.resume(returning: .success((data ?? Data(), response)))
                    } else {
                        continuation.resume(
                            returning: .failure(error ?? URLError(.badServerResponse)))
                    }
                }
                flight.begin(task)
            }
        } onCancel: {
            flight.cancel()
        }
    }

    /// Only what is certain not to have been sent is called so. Linux has
    /// one number (-1) for a TLS handshake that failed and for a connection that
    /// broke later, which therefore counts as unknown; a device signs in before
    /// it sends a payment, so that a store without TLS fails the payment there.
    static func failure(_ error: any Error) -> TransportFailure {
        guard let error = error as? URLError else { return .unknown(nil) }
        return notSent.contains(error.code) ? .notSent(error) : .unknown(error)
    }

    private static let notSent: Set<URLError.Code> = [
        .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .notConnectedToInternet,
        .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
        .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid,
        .clientCertificateRejected, .clientCertificateRequired, .badURL, .unsupportedURL,
        .internationalRoamingOff, .dataNotAllowed,
        .appTransportSecurityRequiresSecureConnection,
    ]
}

/// One task that may be cancelled before it has begun. A class with a lock:
/// the cancellation comes from any thread.
private final class Flight: @unchecked Sendable {
    private let lock = NSLock()
    private var task: URLSessionDataTask?
    private var isCancelled = false

    func begin(_ task: URLSessionDataTask) {
        lock.withLock { self.task = task }
        task.resume()
        if lock.withLock({ isCancelled }) { task.cancel() }
    }

    func cancel() {
        lock.withLock { isCancelled = true }
        lock.withLock { task }?.cancel()
    }
}
