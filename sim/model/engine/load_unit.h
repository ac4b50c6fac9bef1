// Load units: words are fetched in bursts, and accesses wait in order for their words. rtl_lib/lsu/{load,cached_load,fetch,
// pipelined}.py.
#pragma once
#include <deque>
#include <unordered_map>

#include "burst.h"
#include "loop.h"

namespace sluice {

/// What keeps words that may be older than the memory's.
class Renewed {
 public:
  virtual ~Renewed() = default;
  virtual void flush() = 0;
};

/// What the memory knows of a load unit.
class ReadUnit : public Server, public Renewed {
 public:
  virtual void evaluate() = 0;
  virtual void commit() = 0;
  /// A word has come back.
  virtual void arrive() = 0;
  /// Whether a burst is on offer to the memory, and which.
  virtual bool asks() const = 0;
  virtual Burst asked() const = 0;
  virtual void pass() = 0;

  u64 accesses = 0, words = 0, burst_count = 0;
};

/// Every access is a request for one word, as it comes.
class PipelinedLoadUnit final : public ReadUnit {
 public:
  PipelinedLoadUnit(Clock& clock, const UnitPlan& plan, const OperationPlan& operation, u64 base)
      : plan_(plan), base_(base), requests_(clock, static_cast<u32>(operation.depth), static_cast<u32>(operation.latency)),
        pieces_(clock, static_cast<u32>(plan.depth), 1) {}
  Fifo& requests() override { return requests_; }
  bool response() const override { return pieces_.head(); }
  void take() override { pieces_.pop(), leaving_ = 1; }
  void evaluate() override {}
  void commit() override { inside_ -= leaving_, leaving_ = 0; }
  void arrive() override { pieces_.push(0); }
  void flush() override {}
  bool asks() const override { return requests_.head() && inside_ != plan_.depth; }
  Burst asked() const override {
    return {(base_ + *reinterpret_cast<const u64*>(requests_.front()) - 1) / static_cast<u64>(plan_.word_bytes), 1};
  }
  void pass() override { requests_.pop(), inside_++, accesses++, words++, burst_count++; }

 private:
  const UnitPlan& plan_;
  const u64 base_;
  Fifo requests_, pieces_;
  int inside_ = 0, leaving_ = 0;  ///< accesses that are not answered
};

/// Every request is answered, in order, when its word is here.
///
/// A cached unit takes two cycles, or three if that is registered, to find out whether a word is among those kept; the others, and a cached one at rest,
/// know the word of the access before. An access to it while none is under way is not queued. While few words are under way it looks further back, as far as a margin of words more may be placed; those are
/// counted in stretches, the next of which waits for such accesses of the one before.
///
/// A unit with `next_word` asks for the word behind each that an access needs, in the same block. An access that needs another one, or comes after
/// a flush, first drops it; and waits until it has been asked for.
class LoadUnit : public ReadUnit {
 public:
  LoadUnit(Clock& clock, const UnitPlan& plan, const OperationPlan& operation, u64 base)
      : bursts(clock, 2, 1), clock_(clock), plan_(plan), base_(base),
        requests_(clock, static_cast<u32>(operation.depth), static_cast<u32>(operation.latency)),
        builder_(static_cast<u64>(plan.align / plan.word_bytes)), pending_(static_cast<u64>(plan.pending)),
        kept_(plan.kept > plan.pending ? static_cast<u64>(plan.kept - plan.pending) : 0), margin_(2 * std::max<u64>(1, pending_ / 8)),
        reach_(std::max(kept_, kept_ + pending_ - margin_)), free_(pending_) {}

  Fifo& requests() override { return requests_; }
  bool response() const override { return offered_; }
  void take() override { taken_ = true, clock_.move(); }
  void arrive() override { arriving_++; }
  void flush() override { flushed_ = true; }
  bool asks() const override { return bursts.head(); }
  Burst asked() const override { return unpacked(bursts.front()); }
  void pass() override { bursts.pop(); }

  Fifo bursts;

  void evaluate() override {
    if (flushed_) last_known_ = false, stale_ = true, hints_.clear(), flushed_ = false;
    const bool close = age_ == kPatience, urgent = free_ == pending_, was_open = builder_.open();
    u64 word = 0;
    bool fresh = false;
    const bool run = !ahead_.empty();  // goes before what an access asks for
    bool any = next_access(word, fresh);
    if (any && fresh && plan_.next_word) any = !run && !drop(word);
    const bool needs = fresh && run_ == 0;
    const bool at_rest = kept_ && finding_.empty() && waiting_.empty();
    const bool full = since_ == margin_ / 2, held = full && deep_[0] > 0;
    const bool calm = free_ >= pending_ - margin_ / 2;
    const bool room = waiting_.size() < static_cast<size_t>(plan_.depth) && (!needs || (free_ > 0 && !held));
    const bool asks = run ? free_ > 0 : any && needs && room;
    if (full && !held) since_ = 0, deep_[0] = deep_[1], deep_[1] = 0;
    Burst goes;
    const bool accepted = builder_.step(asks, run ? ahead_.empty() ? 0 : ahead_.front() : word, close, urgent, bursts.can_push(), goes);
    if (goes.words) bursts.push(packed(goes)), burst_count++, words += goes.words;
    if (any && room && (!needs || (accepted && !run))) accept(word, fresh, needs);
    if (run && accepted) free_--, run_++, ahead_.pop_front();
    calm_ = calm;
    if (accepted || !was_open) age_ = 0;
    else if (!close) age_++;
    if (at_rest && last_known_ && any_request() && requested_word() == last_) take_same();
    else if (kept_) look_up();
    if (was_open || !finding_.empty()) clock_.move();
  }

  void commit() override {
    if (taken_ || !offered_) offered_ = select();
    if (direct_ && !waiting_.empty()) waiting_.front().since = clock_.now + kQueue;  // not taken: goes through the queue
    taken_ = direct_ = false;
    arrived_ += arriving_;
    arriving_ = 0;
  }

 protected:
  /// The request on offer, if any: its word, and the last word of its run.
  virtual bool any_request() const { return requests_.head(); }
  virtual u64 requested_word() const { return word_of(cell()[0]); }
  virtual u64 last_of_run() const { return word_of(cell()[1]); }
  virtual void accept_request() { requests_.pop(); }

  u64 word_of(u64 place) const { return (base_ + place - 1) / static_cast<u64>(plan_.word_bytes); }
  const u64* cell() const { return reinterpret_cast<const u64*>(requests_.front()); }

  Clock& clock_;
  const UnitPlan& plan_;
  const u64 base_;
  Fifo requests_;
  bool flushed_ = false;

 private:
  struct Finding {
    u64 when, word;
  };
  struct Waiting {
    u64 since;
    bool fresh, dropped = false;
  };
  static constexpr u64 kPatience = 4;  ///< cycles that an open burst waits for another word
  static constexpr u64 kQueue = 2;     ///< cycles through the queue of accesses, which is a block RAM

  /// The access whose turn it is, and whether it must be fetched.
  bool next_access(u64& word, bool& fresh) {
    if (!kept_) {
      if (!any_request()) return false;
      word = requested_word();
      fresh = !last_known_ || word != last_;
      return true;
    }
    if (finding_.empty() || finding_.front().when > clock_.now) return false;
    word = finding_.front().word;
    const auto place = hints_.find(word);
    const bool same = last_known_ && word == last_;
    fresh = !same && (place == hints_.end() || placed_ - place->second > (calm_ ? reach_ : kept_));
    return true;
  }

  void accept(u64 word, bool fresh, bool needs) {
    accesses++;
    const bool same = last_known_ && word == last_;
    direct_ = same && waiting_.empty();
    waiting_.push_back({clock_.now + (direct_ ? 0 : kQueue), fresh});
    if (kept_ && !fresh && !same && placed_ - hints_[word] > kept_) deep_[1] = waiting_.size();
    since_ += fresh;
    last_ = word, last_known_ = true;
    if (needs) hints_[word] = placed_++, free_--;
    else if (fresh) run_--;
    if (kept_) {
      finding_.pop_front();
      return;
    }
    if (fresh && plan_.next_word) {
      guessed_ = (word + 1) % static_cast<u64>(plan_.align / plan_.word_bytes) != 0, stale_ = false;
      if (guessed_) ahead_.push_back(word + 1), clock_.move();
    }
    const bool ahead = fresh && plan_.reads_ahead;
    const u64 last = ahead ? last_of_run() : 0;
    accept_request();
    if (!ahead) return;
    if (needs) asked_ = word;
    const u64 end = std::min(last, (word + kMaxBurst / 2) | (kMaxBurst - 1));
    for (u64 next = asked_ + 1; next <= end; next++) ahead_.push_back(next);
    asked_ = std::max(asked_, end);
  }

  /// Whether the access has to wait, as the word that was asked for ahead is not what it needs. That is dropped if there is room.
  bool drop(u64 word) {
    if (!guessed_ || (!stale_ && word == last_ + 1)) return false;
    if (waiting_.size() == static_cast<size_t>(plan_.depth)) return true;
    waiting_.push_back({clock_.now + kQueue, true, true});
    guessed_ = false, run_--, clock_.move();
    return true;
  }

  /// Take an access of a cached unit at rest to the word in use.
  void take_same() {
    accesses++;
    accept_request();
    direct_ = true;
    waiting_.push_back({clock_.now, false});
  }

  /// Two stages or three, which stand while the access at their end does.
  void look_up() {
    if (!finding_.empty() && finding_.front().when <= clock_.now) {
      for (size_t k = 1; k < finding_.size(); k++) finding_[k].when++;
    } else if (any_request()) {
      finding_.push_back({clock_.now + (plan_.registered ? 3 : 2), requested_word()});
      accept_request();
    }
  }

  /// Whether the oldest access is offered from the next cycle on.
  bool select() {
    if (waiting_.empty() || waiting_.front().since > clock_.now) return false;
    if (waiting_.front().fresh) {
      if (arrived_ == 0) return false;
      arrived_--, free_++;
    }
    const bool dropped = waiting_.front().dropped;
    waiting_.pop_front();
    for (u64& deep : deep_) deep -= deep > 0;
    if (dropped) clock_.move();
    return !dropped;
  }

  BurstBuilder builder_;
  const u64 pending_, kept_, margin_, reach_;
  std::deque<u64> ahead_;         ///< words of a run that are to be asked for
  u64 run_ = 0, asked_ = 0;       ///< words of it that are, and that no access has come to; the last of both
  std::deque<Finding> finding_;   ///< cached units only
  std::unordered_map<u64, u64> hints_;
  u64 placed_ = 0, last_ = 0, since_ = 0, age_ = 0;
  u64 deep_[2] = {0, 0};          ///< accesses under way up to the last that looked far back, of the stretches
  std::deque<Waiting> waiting_;
  u64 free_, arrived_ = 0, arriving_ = 0;
  bool guessed_ = false, stale_ = false;  ///< whether a word is asked for ahead, or will be; before a flush
  bool last_known_ = false, calm_ = false, offered_ = false, taken_ = false;
  bool direct_ = false;  ///< whether the only access under way has come in this cycle, to the word in use
};

}  // namespace sluice
