// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A request for the bytes of hosted content.
public struct ContentFetch: Hashable, Sendable {
    /// Path and query at the store, with the signature.
    public var url: String
    /// The digest, which is the content's entity tag.
    public var sha256: String
    /// The first byte that is asked for.
    public var from: Int64
    public var requestID: String

    public init(url: String, sha256: String, from: Int64, requestID: String) {
        self.url = url
        self.sha256 = sha256
        self.from = from
        self.requestID = requestID
    }
}

/// Takes the bytes of a successful answer as they arrive. `false` ends the transfer.
public protocol ContentSink: AnyObject, Sendable {
    /// The answer's bytes begin at this place of the content. Called before the
    /// first byte.
    func begin(at offset: Int64) -> Bool

    func take(_ bytes: UnsafeRawBufferPointer) -> Bool
}

extension StoreTransport {
    public func fetch(
        _ fetch: ContentFetch, into sink: any ContentSink
    ) async throws(TransportFailure) -> Int {
        throw .notSent(URLError(.unsupportedURL))
    }
}
