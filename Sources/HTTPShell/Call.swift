// SPDX-License-Identifier: Apache-2.0

package import Hummingbird
import NIOCore
import ServiceLifecycle
import StrictJSON

/// One request with its approach, and the id that is in each of its log lines.
package struct Call: Sendable {
    package let request: Request
    package let requestID: String
    package let approach: Approach
    let shared: ShellShared
    /// The connection on which the request came.
    let channel: any Channel
    /// The name of the key that authorised the call. Nil before that.
    package var actor: String?

    package var configuration: ShellConfiguration { shared.configuration }
    package var ports: ShellPorts { shared.ports }
    /// The counters of this server.
    package var figures: ShellFigures { shared.figures }

    /// Throws `notReady` if the server is stopping, or has hardly any room for
    /// another connection.
    package func checkReadiness() throws(RequestMistake) {
        guard !Task.isShuttingDownGracefully else {
            throw .notReady(reason: "The server is stopping.")
        }
        guard !shared.connections.isNearlyFull else {
            throw .notReady(
                reason:
                    "\(shared.connections.count) of \(shared.connections.max) connections are open."
            )
        }
    }

    /// The text after `Bearer ` in the `Authorization` header.
    package var bearer: String? { request.headers[.authorization].flatMap(Self.bearer(of:)) }

    static func bearer(of header: String) -> String? {
        let bytes = header.utf8
        // A letter and its capital differ in this bit.
        guard bytes.prefix(6).elementsEqual("bearer".utf8, by: { $0 | 0x20 == $1 }),
            bytes.dropFirst(6).first == UInt8(ascii: " ")
        else { return nil }
        let token = bytes.dropFirst(6).drop { $0 == UInt8(ascii: " ") }
        return token.isEmpty ? nil : String(token)
    }

    package func header(_ name: String) -> String? {
        HTTPFields.Element.Name(name).flatMap { request.headers[$0] }
    }

    /// Returns the first value of a query parameter, percent-decoded.
    package func query(_ name: String) -> String? {
        request.uri.queryParameters[Substring(name)].map(String.init)
    }

    /// Returns all values of a query parameter, percent-decoded.
    package func queries(_ name: String) -> [String] {
        request.uri.queryParameters[values: Substring(name)].map(String.init)
    }

    /// Decodes the body as JSON. `max` is its limit in bytes, for a route that
    /// accepts larger bodies than others.
    package func body<Value: Decodable>(
        _ type: Value.Type, max: Int? = nil
    ) async throws -> Value {
        try StrictJSON.decode(type, from: try await jsonBytes(max: max))
    }

    /// Returns the body, which is declared as JSON. Another content type is
    /// rejected: a web page can send other types to any server, but JSON only
    /// to a server that allows it.
    package func jsonBytes(max: Int? = nil) async throws -> [UInt8] {
        let kind = request.headers[.contentType]?.prefix { $0 != ";" }.lowercased()
        guard kind?.filter({ $0 != " " && $0 != "\t" }) == "application/json" else {
            throw RequestMistake.contentTypeWrong
        }
        return try await bodyBytes(max: max)
    }

    /// Returns the body. `max` is its limit in bytes, for a route that accepts
    /// larger bodies than others.
    package func bodyBytes(max: Int? = nil) async throws -> [UInt8] {
        let limit = max ?? configuration.bodyBytesMax
        let announced = request.headers[.contentLength].flatMap { Int($0) }
        if let announced, announced > limit { throw RequestMistake.bodyTooLarge(bytesMax: limit) }
        let body = request.body
        let bytes = try await ports.deadline(configuration.bodyTimeout, or: .bodyTimedOut) {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(announced ?? 0)
            do {
                for try await chunk in body {
                    guard bytes.count + chunk.readableBytes <= limit else {
                        throw RequestMistake.bodyTooLarge(bytesMax: limit)
                    }
                    bytes.append(contentsOf: chunk.readableBytesView)
                }
            } catch let mistake as RequestMistake {
                throw mistake
            } catch {
                // The connection broke, or its bytes are not HTTP.
                throw RequestMistake.bodyCutShort
            }
            return bytes
        }
        if let announced, announced != bytes.count { throw RequestMistake.bodyCutShort }
        return bytes
    }
}

extension Response {
    /// JSON with sorted keys and without nulls. The type is exactly
    /// `application/json`, because Apple's Python library accepts no other.
    package static func json(_ value: some Encodable, status: Int = 200) throws -> Response {
        bytes(try jsonBytes(value), type: "application/json", status: status)
    }

    /// Returns the bytes of such a body, for an answer with a tag.
    package static func jsonBytes(_ value: some Encodable) throws -> [UInt8] {
        try StrictJSON.encode(value)
    }

    package static func bytes(_ bytes: [UInt8], type: String, status: Int = 200) -> Response {
        var headers = HTTPFields()
        headers[.contentType] = type
        return Response(
            status: .init(code: status), headers: headers,
            body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    package static func empty(status: Int) -> Response {
        Response(status: .init(code: status))
    }
}
