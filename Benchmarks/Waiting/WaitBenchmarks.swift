import Chat
import Foundation

/// Measures a command or a query while another thread keeps the store busy: Q.
struct WaitBenchmarks {
    let directory: String
    let messages: Int
    let repetitions: Int
    let isQuick: Bool

    private var duration: Duration { isQuick ? .milliseconds(250) : .seconds(3) }

    func run(_ report: inout Report) throws {
        guard report.wants("Q") else { return }
        var waits: [BusyStore.Call: [BusyStore.Load: [Waits]]] = [:]
        for _ in 0..<min(repetitions, 3) {
            try measure(BusyStore(messages: messages), &waits)
            let path = "\(directory)/waiting"
            discard(path)
            defer { discard(path) }
            let store = try BusyStore(messages: messages, at: path)
            settleDisk()
            try measure(store, &waits)
        }
        for call in BusyStore.Call.allCases {
            for load in BusyStore.Load.allCases {
                guard let runs = waits[call]?[load] else { continue }
                let alone = load == .spin ? nil : waits[call]?[.spin]
                try add(runs, beside: alone, "Q \(call.rawValue), \(load.rawValue)", target(call, load), &report)
            }
        }
    }

    /// Measures all calls and loads of one store.
    private func measure(_ store: BusyStore, _ waits: inout [BusyStore.Call: [BusyStore.Load: [Waits]]]) throws {
        for load in BusyStore.Load.allCases {
            for call in BusyStore.Call.allCases where store.isMeasured(call, beside: load) {
                waits[call, default: [:]][load, default: []].append(
                    try store.waits(of: call, beside: load, for: duration))
            }
        }
        try store.close()
    }

    /// Returns the target for the p99 alone divided by the p99 beside a load.
    private func target(_ call: BusyStore.Call, _ load: BusyStore.Load) -> Double? {
        switch (call, load) {
        case (.command, .unread), (.command, .pages), (.command, .checkpoints): 0.5
        case (.syncedCommand, .unread), (.syncedCommand, .pages), (.syncedCommand, .checkpoints): 0.5
        case (.latestPage, .batches), (.latestPage, .checkpoints), (.userView, .batches), (.userView, .checkpoints):
            0.25
        default: nil
        }
    }

    /// Reports the medians of the runs, and the longest call of all runs.
    private func add(_ runs: [Waits], beside alone: [Waits]?, _ name: String, _ target: Double?, _ report: inout Report)
        throws
    {
        for (part, share) in [("p50", 0.5), ("p99", 0.99)] {
            let (value, floor) = (
                Median(runs.map { $0.share(share) }), alone.map { Median($0.map { $0.share(share) }).value }
            )
            try report.add(
                Figure(
                    workload: "\(name), \(part)", subject: "Chat", value: value.value * 1e6, unit: "us",
                    floor: floor.map { $0 * 1e6 },
                    ratio: floor.map { $0 / value.value }, target: part == "p99" ? target : nil, spread: value.spread))
        }
        // A single call decides this figure, so a ratio could not be compared between runs.
        try report.add(
            Figure(
                workload: "\(name), longest", subject: "Chat", value: (runs.map(\.longest).max() ?? 0) * 1e6,
                unit: "us",
                floor: alone.map { ($0.map(\.longest).max() ?? 0) * 1e6 }))
    }
}
