// SPDX-License-Identifier: Apache-2.0

package import Hummingbird
import NIOCore
import StoreWire
import Synchronization

/// A file of any length as the answer to `GET` and `HEAD`: in windows, with ranges, and
/// never in memory as a whole. Its name is its digest, so that its contents never
/// change.
package struct FileAnswer: Sendable {
    /// The most bytes of one file that are read at once.
    package static let windowBytes = 256 * 1024

    private let length: Int64
    private let etag: String
    private let type: String
    private let read: @Sendable (_ offset: Int64, _ count: Int) async throws -> [UInt8]

    /// `tag`: the entity tag without quotes.
    package init(
        length: Int64, tag: String, type: String,
        read: @escaping @Sendable (_ offset: Int64, _ count: Int) async throws -> [UInt8]
    ) {
        self.length = length
        etag = "\"\(tag)\""
        self.type = type
        self.read = read
    }

    /// Answers a request: 200, 206, 304 or 416.
    package func response(to call: Call) throws -> Response {
        let headers = call.request.headers
        if let known = headers[.ifNoneMatch], EntityTag.matches(known, etag) {
            return dressed(.empty(status: 304))
        }
        var range = ByteRange.whole
        // RFC 9110, 14.2: only GET has ranges. A tag that is weak or another, and a date,
        // fetch all of it.
        if call.request.method == .get, headers[.ifRange].map({ $0 == etag }) ?? true {
            range = ByteRange(headers[.range], length: length)
        }
        switch range {
        case .whole: return answer(0..<length, status: 200, to: call)
        case .part(let part):
            var response = answer(part, status: 206, to: call)
            response.headers[.contentRange] =
                "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(length)"
            return response
        case .unsatisfiable:
            var response = dressed(
                try .json(
                    WireError(
                        code: "rangeNotSatisfiable", message: "The file ends before this range.",
                        field: "Range", rule: "bytes of the \(length) that there are",
                        remedy: "ask for fewer bytes, or leave the range out"), status: 416))
            response.headers[.contentRange] = "bytes */\(length)"
            return response
        }
    }

    private func answer(_ part: Range<Int64>, status: Int, to call: Call) -> Response {
        let (read, patience) = (read, WritingPatience(call))
        var response = Response(
            status: .init(code: status),
            body: ResponseBody(contentLength: part.count) { writer in
                var offset = part.lowerBound
                while offset < part.upperBound {
                    let count = min(Int64(Self.windowBytes), part.upperBound - offset)
                    let bytes = try await read(offset, Int(count))
                    // A file that was cut short. The connection ends, so that the client
                    // knows.
                    guard !bytes.isEmpty else { throw FileCutShort() }
                    patience.begin()
                    defer { patience.end() }
                    try await writer.write(ByteBuffer(bytes: bytes))
                    offset += Int64(bytes.count)
                }
                try await writer.finish(nil)
            })
        response.headers[.contentType] = type
        return dressed(response)
    }

    private func dressed(_ response: Response) -> Response {
        var response = response
        response.headers[.eTag] = etag
        response.headers[.acceptRanges] = "bytes"
        response.headers[.cacheControl] = "private, no-transform"
        return response
    }

}

private struct FileCutShort: Error {}

/// Closes the connection of a client that takes no bytes for as long as a whole
/// request may take. Otherwise it would hold a connection and a file for ever. A
/// class, because the writer and the event loop share it.
private final class WritingPatience: Sendable {
    private let channel: any Channel
    private let limit: TimeAmount
    private let closing = Mutex<Scheduled<Void>?>(nil)

    init(_ call: Call) {
        channel = call.channel
        limit = .seconds(call.configuration.requestTimeout.components.seconds)
    }

    /// A window is about to be written.
    func begin() {
        let channel = channel
        let scheduled = channel.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
        closing.withLock { $0 = scheduled }
    }

    /// It was written.
    func end() { closing.withLock { $0 }?.cancel() }
}
