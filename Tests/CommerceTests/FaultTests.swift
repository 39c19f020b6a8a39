// SPDX-License-Identifier: Apache-2.0

import Commerce
import Testing

@Suite struct FaultTests {
    @Test(arguments: [
        (Fault.Name.rateLimits, "apple", "apple"), (.rateLimits, "3", "3"),
        (.verifyReceipt, "21005", "21005"), (.verifyReceipt, "21150", "21150"),
        (.notifications, "lose", "lose"),
        (.notifications, "reorder,duplicate", "duplicate,reorder"),
        (.notifications, "delay=60,reorder", "reorder,delay=60"),
        (.notificationAttempts, "6", "6"),
    ])
    func `a value reads back in its shortest form`(
        name: Fault.Name, value: String, shortest: String
    ) throws {
        let fault = try #require(Fault(name, value: value))
        #expect(fault.value == shortest && fault.name == name)
        #expect(Fault(name, value: fault.value) == fault)
    }

    @Test(arguments: [
        (Fault.Name.rateLimits, ["", "0", "-1", "Apple", "1000001", "1.5"]),
        (.verifyReceipt, ["0", "21000", "21006", "21007", "21008", "21099", "21200", "x"]),
        (.notifications, ["", ",", "lose,", "delay", "delay=0", "delay=604801", "drop"]),
        (.notificationAttempts, ["0", "7", ""]),
    ])
    func `another value is none`(name: Fault.Name, values: [String]) {
        for value in values { #expect(Fault(name, value: value) == nil, "\(value)") }
    }

    @Test func `a notification is kept back by its own pause`() throws {
        let fault = try #require(NotificationFault("reorder,delay=10"))
        #expect(fault.hold(0) == 10_000 && fault.hold(59_999) == 69_999)
        #expect(fault.hold(60_000) == 10_000)
        #expect(try #require(NotificationFault("duplicate")).hold(12_345) == 0)
    }
}
