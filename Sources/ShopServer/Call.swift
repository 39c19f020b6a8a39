// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import Shop
import SignedData
import StoreWire
import StrictJSON

/// One request on its way: what came, who is asked, and the id that goes
/// through every log line.
struct Call: Sendable {
    let request: Request
    let context: Shop.RequestContext
    let configuration: ShopServerConfiguration
    let ports: ShopServerPorts

    /// What stands behind `Bearer ` in the `Authorization` header.
    var bearer: String? {
        guard let header = request.headers[.authorization] else { return nil }
        let parts = header.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        let token = parts[1].drop { $0 == " " }
        return token.isEmpty ? nil : String(token)
    }

    func header(_ name: String) -> String? {
        HTTPFields.Element.Name(name).flatMap { request.headers[$0] }
    }

    /// The last value of a name in the query, percent-decoded.
    func query(_ name: String) -> String? {
        request.uri.queryParameters[Substring(name)].map(String.init)
    }

    /// The body, as JSON of a known shape.
    func body<Value: Decodable>(_ type: Value.Type) async throws -> Value {
        try StrictJSON.decode(type, from: try await bodyBytes())
    }

    func bodyBytes() async throws -> [UInt8] {
        let limit = configuration.bodyBytesMax
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
                // The connection broke, or its bytes are no HTTP.
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
    /// `application/json`: Apple's Python library reads no other.
    static func json(_ value: some Encodable, status: Int = 200) throws -> Response {
        bytes(try StrictJSON.encode(value), type: "application/json", status: status)
    }

    static func bytes(_ bytes: [UInt8], type: String, status: Int = 200) -> Response {
        var headers = HTTPFields()
        headers[.contentType] = type
        return Response(
            status: .init(code: status), headers: headers,
            body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    static func empty(status: Int) -> Response {
        Response(status: .init(code: status))
    }
}
