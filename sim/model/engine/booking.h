// Ports that tokens of several levels use some cycles after they enter: rtl_lib/port_reservation.py.
#pragma once
#include <map>
#include <vector>

#include "loop.h"

namespace sluice {

class Booking {
 public:
  Booking(const BookingPlan& plan, const std::vector<std::unique_ptr<Loop>>& loops) : plan_(plan) {
    for (const BookingPlan::User& user : plan.users) {
      users_.push_back({user, loops[static_cast<size_t>(user.region)]->levels[static_cast<size_t>(user.level)].get()});
      for (const BookingPlan::Use& use : user.uses) booked_[use.port].assign(static_cast<size_t>(plan.length), false);
    }
  }
  /// Before any token enters: which levels may be entered in this cycle.
  void evaluate() {
    auto taken = booked_;
    for (size_t k = 0; k < users_.size(); k++) {
      User& user = users_[k];
      user.wants = user.level->wants();
      const bool may = user.left == 1 || !(reserved(user, 0) || wanted_before(k));
      const bool later = k == turn_ && user.wants && !may && !user.left && !reserved(user, user.plan.ahead);
      user.level->may_enter = may;
      user.refused = user.wants && !may;
      if (user.wants && may) take(taken, user, 0);
      if (later) take(taken, user, user.plan.ahead);
      user.after = later ? user.plan.ahead : user.left - (user.left != 0);
    }
    const bool next = !waits(users_[turn_]);
    for (User& user : users_) {
      user.since = user.wants ? (user.refused ? user.plan.spacing : 0) : user.since - (user.since != 0);
      user.left = user.after;
    }
    if (next) turn_ = turn_ + 1 == users_.size() ? 0 : turn_ + 1;
    for (auto& [port, cycles] : taken) {
      cycles.erase(cycles.begin());
      cycles.push_back(false);
    }
    booked_ = std::move(taken);
  }

 private:
  using Cycles = std::map<int, std::vector<bool>>;
  struct User {
    const BookingPlan::User& plan;
    Level* level;
    int left = 0, since = 0, after = 0;
    bool wants = false, refused = false;
  };
  static bool waits(const User& user) { return (user.refused || (user.since && !user.wants)) && !user.left; }
  bool reserved(const User& user, int later) const {
    for (const BookingPlan::Use& use : user.plan.uses)
      if (booked_.at(use.port)[static_cast<size_t>(use.cycle + later)]) return true;
    return false;
  }
  /// Whether a level before wants to use a port in the same cycle.
  bool wanted_before(size_t number) const {
    for (size_t k = 0; k < number; k++)
      for (const BookingPlan::Use& one : users_[k].plan.uses)
        for (const BookingPlan::Use& other : users_[number].plan.uses)
          if (users_[k].wants && one == other) return true;
    return false;
  }
  static void take(Cycles& cycles, const User& user, int later) {
    for (const BookingPlan::Use& use : user.plan.uses) cycles[use.port][static_cast<size_t>(use.cycle + later)] = true;
  }

  const BookingPlan& plan_;
  std::vector<User> users_;
  Cycles booked_;  ///< of each port, by cycles from now
  size_t turn_ = 0;
};

}  // namespace sluice
