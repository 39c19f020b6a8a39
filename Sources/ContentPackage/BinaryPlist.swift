// SPDX-License-Identifier: Apache-2.0

/// Checks the structure of a property list in binary form before Foundation reads it:
/// Foundation's reader trusts the counts of the file, and ends the process at one that is
/// too large.
///
/// Only what XML can also say is sound: no sets, no references of archives, and no
/// integers of 16 bytes. Arrays and dictionaries are a tree, as every writer makes it.
struct BinaryPlist {
    private struct Object {
        /// From its marker to its last byte.
        let length: Int
        var isText = false
        var isContainer = false
        /// The objects in an array or dictionary.
        var references: [Int] = []
        /// How many of the references are keys. They come first.
        var keys = 0
    }

    private static let start = Array("bplist00".utf8)
    private static let trailerBytes = 32
    /// Arrays and dictionaries in each other. A package's list has one dictionary.
    private static let depthMax = 64

    private let bytes: [UInt8]
    /// Bytes of each offset in the table.
    private let offsetBytes: Int
    /// Bytes of each reference to an object.
    private let referenceBytes: Int
    /// The number of objects, and the one that holds the others.
    private let count: Int
    private let top: Int
    /// Where the table of the objects' offsets begins. The objects are before it.
    private let table: Int

    /// Whether Foundation takes the bytes for the binary form.
    static func isClaimed(by bytes: [UInt8]) -> Bool { bytes.starts(with: "bplist".utf8) }

    static func isSound(_ bytes: [UInt8]) -> Bool {
        guard let plist = BinaryPlist(bytes), let objects = plist.objects() else { return false }
        return plist.isTree(objects)
    }

    /// Nil unless header and trailer fit the bytes.
    private init?(_ bytes: [UInt8]) {
        let trailer = bytes.count - Self.trailerBytes
        guard bytes.starts(with: Self.start), trailer > Self.start.count,
            let count = Self.number(in: bytes, at: trailer + 8, size: 8),
            let top = Self.number(in: bytes, at: trailer + 16, size: 8),
            let table = Self.number(in: bytes, at: trailer + 24, size: 8)
        else { return nil }
        let (offsetBytes, referenceBytes) = (Int(bytes[trailer + 6]), Int(bytes[trailer + 7]))
        guard (1...8).contains(offsetBytes), (1...8).contains(referenceBytes),
            table > Self.start.count, table < trailer,
            count <= (trailer - table) / offsetBytes, top < count
        else { return nil }
        self.bytes = bytes
        self.offsetBytes = offsetBytes
        self.referenceBytes = referenceBytes
        self.count = count
        self.top = top
        self.table = table
    }

    /// Nil if an object is not one, or not inside the file. Objects that share bytes
    /// could make a small file a lot of work, so all of them have room beside each other.
    private func objects() -> [Object]? {
        var objects: [Object] = []
        var room = table - Self.start.count
        for index in 0..<count {
            guard let object = object(index), object.length <= room else { return nil }
            room -= object.length
            objects.append(object)
        }
        return objects
    }

    private func object(_ index: Int) -> Object? {
        let place = table + index * offsetBytes
        guard let offset = Self.number(in: bytes, at: place, size: offsetBytes),
            offset >= Self.start.count, offset < table
        else { return nil }
        let low = Int(bytes[offset] & 0x0F)
        switch bytes[offset] >> 4 {
        case 0x0: return [0x8, 0x9].contains(low) ? plain(offset, 0) : nil
        case 0x1: return low <= 3 ? plain(offset, 1 << low) : nil
        case 0x2: return [2, 3].contains(low) ? plain(offset, 1 << low) : nil
        case 0x3: return low == 3 ? plain(offset, 8) : nil
        case 0x4: return counted(offset, unit: 1, isText: false)
        case 0x5: return counted(offset, unit: 1, isText: true)
        case 0x6: return counted(offset, unit: 2, isText: true)
        case 0xA: return container(offset, perItem: 1)
        case 0xD: return container(offset, perItem: 2)
        default: return nil
        }
    }

    /// A truth value, a number or a date, with so many bytes behind its marker.
    private func plain(_ offset: Int, _ size: Int) -> Object? {
        size < table - offset ? Object(length: 1 + size) : nil
    }

    /// Data or a text.
    private func counted(_ offset: Int, unit: Int, isText: Bool) -> Object? {
        guard let (start, count) = items(offset, unit: unit) else { return nil }
        return Object(length: start + count * unit - offset, isText: isText)
    }

    /// An array, which has one reference for each item, or a dictionary, which has two.
    private func container(_ offset: Int, perItem: Int) -> Object? {
        guard let (start, count) = items(offset, unit: perItem * referenceBytes) else {
            return nil
        }
        var references: [Int] = []
        for index in 0..<(count * perItem) {
            let place = start + index * referenceBytes
            guard let reference = Self.number(in: bytes, at: place, size: referenceBytes),
                reference < self.count
            else { return nil }
            references.append(reference)
        }
        return Object(
            length: start + references.count * referenceBytes - offset, isContainer: true,
            references: references, keys: perItem == 2 ? count : 0)
    }

    /// Where the items of an object begin, and how many there are. Nil unless all of
    /// them are before the table.
    private func items(_ offset: Int, unit: Int) -> (start: Int, count: Int)? {
        var (start, count) = (offset + 1, Int(bytes[offset] & 0x0F))
        if count == 0x0F {
            guard start < table, (0x10...0x13).contains(bytes[start]) else { return nil }
            let size = 1 << Int(bytes[start] & 0x0F)
            guard let long = Self.number(in: bytes, at: start + 1, size: size) else { return nil }
            (start, count) = (start + 1 + size, long)
        }
        guard start <= table, count <= (table - start) / unit else { return nil }
        return (start, count)
    }

    /// Whether every array and dictionary is in one other, and not too deep, and keys
    /// are texts.
    private func isTree(_ objects: [Object]) -> Bool {
        var reached: Set<Int> = [top]
        var (level, depth) = ([top], 0)
        while !level.isEmpty {
            depth += 1
            guard depth <= Self.depthMax else { return false }
            var next: [Int] = []
            for object in level.map({ objects[$0] }) {
                guard object.references.prefix(object.keys).allSatisfy({ objects[$0].isText })
                else { return false }
                for child in object.references where objects[child].isContainer {
                    guard reached.insert(child).inserted else { return false }
                    next.append(child)
                }
            }
            level = next
        }
        return objects.indices.allSatisfy { !objects[$0].isContainer || reached.contains($0) }
    }

    /// A number that begins with its highest byte. Nil beyond the end, and if no `Int`
    /// holds it.
    private static func number(in bytes: [UInt8], at offset: Int, size: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count - size else { return nil }
        let value = bytes[offset..<(offset + size)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(exactly: value)
    }
}
