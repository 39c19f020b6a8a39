// SPDX-License-Identifier: Apache-2.0

public import FuzzEntries

/// libFuzzer's driver. Its own `main` is not taken: the package manager wants
/// a program's to be called by the program's name.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutableRawPointer, _ words: UnsafeMutableRawPointer,
    _ feed: @convention(c) (UnsafeRawPointer?, Int) -> CInt
) -> CInt

/// Runs libFuzzer with a program's arguments; `feed` has each input.
public func drive(
    _ count: CInt, _ words: UnsafeMutableRawPointer,
    _ feed: @convention(c) (UnsafeRawPointer?, Int) -> CInt
) -> CInt {
    var (count, words) = (count, words)
    return runDriver(&count, &words, feed)
}

/// Feeds a parser one input.
public func feed(_ entry: FuzzEntry, _ start: UnsafeRawPointer?, _ count: Int) -> CInt {
    entry.feed(Array(UnsafeRawBufferPointer(start: start, count: count)))
    return 0
}
