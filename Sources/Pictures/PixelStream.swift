// SPDX-License-Identifier: Apache-2.0

@_implementationOnly import CZlib

/// Decompresses the pixels of a PNG and judges its rows, without keeping them. It ends at the
/// first byte that the rows have no place for.
enum PixelStream {
    private static let pieceBytes = 65_536

    /// Whether a zlib stream holds exactly these rows, and nothing follows it.
    static func isSound(_ bytes: [UInt8], rows: PixelRows) -> Bool {
        // zlib notes the address, so that it must not change.
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        defer { stream.deallocate() }
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit_(stream, ZLIB_VERSION, size) == Z_OK else { return false }
        defer { inflateEnd(stream) }
        return bytes.withUnsafeBufferPointer { input in
            // zlib reads it only.
            stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.pointee.avail_in = UInt32(input.count)
            return holds(rows, stream)
        }
    }

    private static func holds(_ all: PixelRows, _ stream: UnsafeMutablePointer<z_stream>) -> Bool {
        var rows = all
        let piece = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: pieceBytes)
        defer { piece.deallocate() }
        while true {
            stream.pointee.next_out = piece.baseAddress
            stream.pointee.avail_out = UInt32(piece.count)
            let code = inflate(stream, Z_NO_FLUSH)
            let count = piece.count - Int(stream.pointee.avail_out)
            guard rows.take(UnsafeBufferPointer(rebasing: piece[..<count])) else { return false }
            if code == Z_STREAM_END { return rows.isComplete && stream.pointee.avail_in == 0 }
            guard code == Z_OK, count > 0 else { return false }
        }
    }
}

/// The rows that a PNG of a size has, each with its filter in front.
struct PixelRows {
    private struct Pass {
        let rowBytes: Int
        var rows: Int
    }

    /// Where the seven passes of an interlaced picture begin, and how far their pixels
    /// are apart.
    private static let passes = [
        (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
        (0, 1, 1, 2),
    ]
    /// The highest number of a filter.
    private static let filterMax: UInt8 = 4

    /// The next one last.
    private var passes: [Pass]
    /// Bytes that the row lacks.
    private var left = 0

    init(width: Int, height: Int, bitsPerPixel: Int, isInterlaced: Bool) {
        let parts = isInterlaced ? Self.passes : [(0, 0, 1, 1)]
        var passes: [Pass] = []
        for (x, y, across, down) in parts {
            let columns = max(0, (width - x + across - 1) / across)
            let rows = max(0, (height - y + down - 1) / down)
            guard columns > 0, rows > 0 else { continue }
            passes.append(Pass(rowBytes: (columns * bitsPerPixel + 7) / 8, rows: rows))
        }
        self.passes = passes.reversed()
    }

    var isComplete: Bool { left == 0 && passes.isEmpty }

    /// False for a byte beyond the last row, and for an unknown filter.
    mutating func take(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var place = 0
        while place < bytes.count {
            if left == 0 {
                guard bytes[place] <= Self.filterMax, let pass = passes.last else { return false }
                left = pass.rowBytes
                passes[passes.count - 1].rows -= 1
                if pass.rows == 1 { passes.removeLast() }
                place += 1
            }
            let count = min(left, bytes.count - place)
            left -= count
            place += count
        }
        return true
    }
}
